package config

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"plantstore/internal/ratelimit"
)

// parsed returns the set function of an option: it stores the result of parse in a field.
func parsed[T any](parse func(string) (T, error), field func(*Config) *T) func(*Config, string) error {
	return func(c *Config, v string) (err error) {
		*field(c), err = parse(v)
		return err
	}
}

// duration returns an option for a duration from least to most.
func duration(env, flag, defaultText string, least, most time.Duration, help string, field func(*Config) *time.Duration) Option {
	parse := func(v string) (time.Duration, error) {
		d, err := time.ParseDuration(v)
		if err != nil || d < least || d > most {
			return 0, fmt.Errorf("must be a duration from %v to %v, such as 10s", least, most)
		}
		return d, nil
	}
	return Option{Env: env, Flag: flag, Default: defaultText, Help: help, Set: parsed(parse, field)}
}

func checkAddr(v string) error {
	if path, ok := UnixPath(v); ok {
		if path == "" {
			return fmt.Errorf("must be unix: and the path of a socket, such as unix:/run/plantstore/http.sock")
		}
		return nil
	}
	_, port, err := net.SplitHostPort(v)
	if err != nil {
		return fmt.Errorf("must be HOST:PORT, such as 127.0.0.1:8080 or :8080, or unix:PATH")
	}
	return checkPort(port)
}

func checkPort(v string) error {
	if _, err := strconv.ParseUint(v, 10, 16); err != nil {
		return fmt.Errorf("the port must be a number from 0 to 65535")
	}
	return nil
}

func checkBaseURL(v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("must be an absolute URL without a query, such as https://plants.example.com")
	}
	return nil
}

// list returns a parser of comma-separated lists, whose items parse parses.
func list(parse func(string) (string, error)) func(string) ([]string, error) {
	return func(v string) (items []string, err error) {
		for item := range strings.SplitSeq(v, ",") {
			if item, err = parse(strings.Trim(item, " ")); err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return items, nil
	}
}

func parseOrigins(v string) ([]string, error) {
	if v == "*" {
		return []string{v}, nil
	}
	return list(parseOrigin)(v)
}

// parseOrigin rejects an origin that is not spelled as browsers send it, since it would
// never match.
func parseOrigin(v string) (string, error) {
	invalid := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`*"\<>@?#`, r) }
	u, err := url.Parse(v)
	if err != nil || u.Scheme == "" || u.Host == "" || strings.ContainsFunc(v, invalid) {
		return "", fmt.Errorf("must be * or origins such as https://docs.example.com, with commas between them")
	}
	usual := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	host := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(u.Host), usual), ":")
	if spelt := u.Scheme + "://" + host; v != spelt {
		return "", fmt.Errorf("browsers spell this origin %s", spelt)
	}
	return v, nil
}

// item returns a parser of items that may be any text but an empty one. what describes them in its
// error.
func item(what string) func(string) (string, error) {
	return func(v string) (string, error) {
		if v == "" {
			return "", fmt.Errorf("must be %s, with commas between them", what)
		}
		return v, nil
	}
}

// checkScope checks the syntax of one scope (RFC 6749, section 3.3), which is sent in
// WWW-Authenticate headers.
func checkScope(v string) error {
	if strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
		return fmt.Errorf("must be one scope, without spaces or quotes")
	}
	return nil
}

func parseBool(v string) (bool, error) {
	switch strings.ToLower(v) {
	case "on", "true", "yes", "1":
		return true, nil
	case off, "false", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("must be on or off")
}

// number returns a parser of integers from least to most. what describes them in its error.
func number[T int | int64](what string, least, most T) func(string) (T, error) {
	return func(v string) (T, error) {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < int64(least) || n > int64(most) {
			return 0, fmt.Errorf("must be a number %sfrom %d to %d", what, least, most)
		}
		return T(n), nil
	}
}

// off is the value for none, and of a switch.
const off = "off"

func parseRateLimit(v string) (ratelimit.Rate, error) {
	if strings.EqualFold(v, off) {
		return ratelimit.Rate{}, nil
	}
	limit, err := ratelimit.Parse(v)
	if err != nil {
		err = fmt.Errorf("%w, or %s", err, off)
	}
	return limit, err
}
