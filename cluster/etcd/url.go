package etcd

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"plantstore/internal/files"
)

const (
	defaultPort    = "2379"
	defaultPrefix  = "/plants/"
	defaultTimeout = "5s"
)

// A target is a parsed storage URL:
//
//	etcd://user:password@host:port,host:port/prefix?ca=FILE&cert=FILE&key=FILE&tls=true&timeout=5s
type target struct {
	endpoints []string // host:port
	prefix    string   // begins and ends with a slash
	user      string
	password  string
	tls       *tls.Config // nil without TLS
	timeout   time.Duration
}

// parseURL parses a storage URL. Its errors never quote a password.
func parseURL(rawURL string) (t target, err error) {
	_, rest, _ := strings.Cut(rawURL, "://")
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	at := strings.LastIndexByte(authority, '@') + 1 // 0 without a user
	userinfo, hosts := authority[:at], authority[at:]
	// Package url supports only one host.
	u, err := url.Parse("etcd://" + userinfo + "x" + tail)
	if err != nil {
		return t, errors.New("malformed; write etcd://USER:PASSWORD@HOST:PORT,HOST:PORT/PREFIX, with % and two digits for special characters")
	}
	if t.endpoints, err = endpoints(hosts); err != nil {
		return t, err
	}
	t.user = u.User.Username()
	t.password, _ = u.User.Password()
	if (t.user == "") != (t.password == "") {
		return t, errors.New("the URL must have both a user and a password, or neither")
	}
	if t.prefix = "/" + strings.Trim(u.Path, "/") + "/"; t.prefix == "//" {
		t.prefix = defaultPrefix
	}
	return t, t.options(u.RawQuery)
}

// endpoints parses a list of addresses separated by commas.
func endpoints(hosts string) ([]string, error) {
	list := strings.Split(hosts, ",")
	for i, address := range list {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			host, port = strings.Trim(address, "[]"), defaultPort
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil || host == "" || strings.ContainsAny(host, " []") {
			return nil, fmt.Errorf("%q is not HOST:PORT; separate several with commas", address)
		}
		list[i] = net.JoinHostPort(host, port)
	}
	return list, nil
}

// options parses the query of a URL.
func (t *target) options(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("the query after ? is not NAME=VALUE&NAME=VALUE")
	}
	known := []string{"ca", "cert", "key", "timeout", "tls"}
	for name, value := range values {
		if !slices.Contains(known, name) || len(value) > 1 {
			return fmt.Errorf("option %q: unknown or given twice; known: %s", name, strings.Join(known, ", "))
		}
	}
	timeout := cmp.Or(values.Get("timeout"), defaultTimeout)
	if t.timeout, err = time.ParseDuration(timeout); err != nil || t.timeout < time.Second || t.timeout > time.Minute {
		return fmt.Errorf("timeout: %q: must be a duration from 1s to 1m", timeout)
	}
	on, err := strconv.ParseBool(cmp.Or(values.Get("tls"), "false"))
	if err != nil {
		return fmt.Errorf("tls: %q: must be true or false", values.Get("tls"))
	}
	t.tls, err = tlsConfig(on, values.Get("ca"), values.Get("cert"), values.Get("key"))
	return err
}

// tlsConfig returns the TLS configuration, or nil without TLS. An empty ca trusts the
// system's authorities; an empty cert sends no client certificate. The client certificate
// is reloaded for each connection, since it expires.
func tlsConfig(on bool, ca, cert, key string) (*tls.Config, error) {
	if !on && ca == "" && cert == "" && key == "" {
		return nil, nil //nolint:nilnil // nil: no TLS
	}
	if (cert == "") != (key == "") {
		return nil, errors.New("give both cert and key, or neither")
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("ca: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca: %s holds no certificate in PEM", ca)
		}
	}
	if cert == "" {
		return c, nil
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return readPair(cert, key) }
	_, err := c.GetClientCertificate(nil)
	return c, err
}

// readPair reads a certificate and its private key. It fails if other users can change the
// key, and for an expired certificate: a member that rejects it may close the connection
// without a reason.
func readPair(cert, key string) (*tls.Certificate, error) {
	certificate, err := os.ReadFile(cert)
	private, err2 := files.ReadSecret(key)
	if err = cmp.Or(err, err2); err != nil {
		return nil, fmt.Errorf("cert and key: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, private)
	if err != nil {
		return nil, fmt.Errorf("cert and key: %w", err)
	}
	if end := pair.Leaf.NotAfter; time.Now().After(end) {
		return nil, fmt.Errorf("cert and key: %s is an expired certificate, valid until %s; replace it", cert, end.UTC().Format(time.RFC3339))
	}
	return &pair, nil
}
