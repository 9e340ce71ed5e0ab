package auth

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// leeway is the maximum clock difference between issuer and server (C4.22).
const leeway = 5 * time.Second

// MaxSubject is the maximum length in bytes of a subject.
const MaxSubject = 255

// The claims that the service uses (RFC 7519, section 4.1). Names match case-sensitively (C4.23).
type claims struct {
	Subject  jsontext.Value `json:"sub"`
	Issuer   jsontext.Value `json:"iss"`
	Audience jsontext.Value `json:"aud"`
	Expires  jsontext.Value `json:"exp"`
	From     jsontext.Value `json:"nbf"`
	Scope    jsontext.Value `json:"scope"` // RFC 8693, section 4.2
	Scp      jsontext.Value `json:"scp"`   // of several identity providers
}

// A verified token had a valid signature and valid claims when it was put into the cache.
type verified struct {
	subject     string
	from, until time.Time // with the leeway; until is zero without exp
}

// at returns an error if the token is not valid at a time.
func (t verified) at(now time.Time) error {
	switch {
	case !t.until.IsZero() && !now.Before(t.until):
		return errExpired
	case now.Before(t.from):
		return errNotYetValid
	}
	return nil
}

// check returns what the cache keeps of a token with valid claims (C4.22). The token keeps no
// reference to their text.
func (o *Options) check(text []byte) (token verified, err error) {
	var c claims
	if err := unmarshalObject(text, &c); err != nil {
		return verified{}, err
	}
	if token.until, err = dateOf("exp", c.Expires, leeway); err != nil {
		return verified{}, err
	}
	if token.from, err = dateOf("nbf", c.From, -leeway); err != nil {
		return verified{}, err
	}
	if err := token.at(time.Now()); err != nil {
		return verified{}, err
	}
	if token.subject = stringOf(c.Subject); len(token.subject) > MaxSubject {
		return verified{}, refuse(ReasonMalformed, "the access token is not valid: sub must be at most %d bytes long", MaxSubject)
	}
	return token, o.checkRequired(c)
}

// checkRequired checks the claims that the configuration requires.
func (o *Options) checkRequired(c claims) error {
	issuer, audiences := stringOf(c.Issuer), stringsOf(c.Audience)
	var missing []string
	var reasons []Reason
	check := func(claim string, required, present bool, reason Reason) {
		if required && !present {
			missing, reasons = append(missing, claim), append(reasons, reason)
		}
	}
	check("exp", o.RequireExp, c.Expires != nil, ReasonNoExpiry)
	check("iss", o.Issuers != nil, issuer != "", ReasonIssuer)
	check("aud", o.Audiences != nil, strings.Join(audiences, "") != "", ReasonAudience)
	accepted := func(audience string) bool { return slices.Contains(o.Audiences, audience) }
	switch {
	case missing != nil:
		return refuse(reasons[0], "the access token lacks a claim that is required here: %s", strings.Join(missing, ", "))
	case o.Issuers != nil && !slices.Contains(o.Issuers, issuer):
		return refuse(ReasonIssuer, "the access token is from an issuer (iss) that is not accepted here")
	case o.Audiences != nil && !slices.ContainsFunc(audiences, accepted):
		return refuse(ReasonAudience, "the access token is meant for another audience (aud)")
	case o.Scope != "" && !slices.Contains(c.scopes(), o.Scope):
		return refuse(ReasonScope, "%s", MissingScope(o.Scope).Message)
	}
	return nil
}

// scopes returns the scopes in scope or, without it, in scp.
func (c claims) scopes() []string {
	scope := c.Scope
	if scope == nil {
		scope = c.Scp
	}
	if scope.Kind() == jsontext.KindBeginArray {
		return stringsOf(scope)
	}
	return strings.Fields(stringOf(scope))
}

// stringOf returns the value of a JSON string, or "" for other JSON values.
func stringOf(value jsontext.Value) string {
	var s string
	if value.Kind() != jsontext.KindString || json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// stringsOf returns the strings of a JSON string or array of strings.
func stringsOf(value jsontext.Value) []string {
	var all []string
	if value.Kind() != jsontext.KindBeginArray {
		return []string{stringOf(value)}
	}
	if json.Unmarshal(value, &all) != nil {
		return nil
	}
	return all
}

// dateOf returns a claim that is a NumericDate (RFC 7519, section 2), with the leeway, or zero if it is
// absent. It must be a JSON number (C4.22), and is clamped to the years 1 to 9999.
func dateOf(claim string, value jsontext.Value, leeway time.Duration) (time.Time, error) {
	const first, last = -62135596800, 253402300799
	switch {
	case value == nil:
		return time.Time{}, nil
	case value.Kind() != jsontext.KindNumber:
		return time.Time{}, refuse(ReasonMalformed, "the access token is not valid: %s must be a number", claim)
	}
	seconds, _ := strconv.ParseFloat(string(value), 64) // out of range is ±Inf
	whole, fraction := math.Modf(min(max(seconds, first), last))
	return time.Unix(int64(whole), int64(fraction*1e9)).Add(leeway), nil
}
