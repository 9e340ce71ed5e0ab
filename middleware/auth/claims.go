package auth

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"
)

// MaxSubject is the maximum length in bytes of a subject.
const MaxSubject = 255

// The tokenClaims are the claims that the service uses. Unlike the library's types they
// distinguish an exp of 0 from an absent one, match names case-sensitively and reject
// duplicates (C4.22, C4.23).
type tokenClaims struct {
	jwt.RegisteredClaims // sub, iss, aud, exp and nbf

	required *Options
	scopes   []string
	read     bool
}

// A claimError reports a claim of the wrong JSON type or length.
type claimError struct{ claim, want string }

func (e *claimError) Error() string { return e.claim + " is not " + e.want }

// errClaims is returned for a payload that is not a JSON object without duplicates.
var errClaims = fmt.Errorf("%w: the payload is not a JSON object", jwt.ErrTokenMalformed)

// UnmarshalJSON decodes the payload of a token strictly.
func (c *tokenClaims) UnmarshalJSON(payload []byte) error {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(payload, &fields); err != nil || fields == nil {
		return errClaims
	}
	c.read, c.scopes = true, scopesOf(fields)
	c.Subject, c.Issuer, c.Audience = stringOf(fields["sub"]), stringOf(fields["iss"]), stringsOf(fields["aud"])
	var err error
	if c.ExpiresAt, err = dateOf(fields, "exp"); err != nil {
		return err
	}
	c.NotBefore, err = dateOf(fields, "nbf")
	return err
}

// Validate implements [jwt.ClaimsValidator] for what the library does not check. It is called
// after the signature was verified.
func (c *tokenClaims) Validate() error {
	switch {
	case !c.read: // the payload is null
		return errClaims
	case len(c.Subject) > MaxSubject:
		return &claimError{"sub", fmt.Sprintf("at most %d bytes long", MaxSubject)}
	}
	return c.checkRequired()
}

// checkRequired checks the claims that the configuration requires (C4.22). The library would
// accept only one issuer, and names only one missing claim.
func (c *tokenClaims) checkRequired() error {
	o := c.required
	var missing missingError
	for _, claim := range []struct {
		name             string
		required, absent bool
	}{
		{"exp", o.RequireExp, c.ExpiresAt == nil},
		{"iss", o.Issuers != nil, c.Issuer == ""},
		{"aud", o.Audiences != nil, strings.Join(c.Audience, "") == ""},
	} {
		if claim.required && claim.absent {
			missing = append(missing, claim.name)
		}
	}
	accepted := func(audience string) bool { return slices.Contains(o.Audiences, audience) }
	switch {
	case missing != nil:
		return missing
	case o.Issuers != nil && !slices.Contains(o.Issuers, c.Issuer):
		return jwt.ErrTokenInvalidIssuer
	case o.Audiences != nil && !slices.ContainsFunc(c.Audience, accepted):
		return jwt.ErrTokenInvalidAudience
	}
	return nil
}

// verified returns what the cache keeps of a valid token, without references to its claims.
func (c *tokenClaims) verified(scope string) verified {
	token := verified{subject: c.Subject, scoped: scope == "" || slices.Contains(c.scopes, scope)}
	if c.ExpiresAt != nil {
		token.until = c.ExpiresAt.Add(leeway)
	}
	if c.NotBefore != nil {
		token.from = c.NotBefore.Add(-leeway)
	}
	return token
}

// scopesOf returns the scopes in scope (RFC 8693, section 4.2) or, without it, in scp, which
// several identity providers issue instead (C4.22).
func scopesOf(fields map[string]jsontext.Value) []string {
	claim, present := fields["scope"]
	if !present {
		claim = fields["scp"]
	}
	if claim.Kind() == jsontext.KindBeginArray {
		return stringsOf(claim)
	}
	return strings.Fields(stringOf(claim))
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

// dateOf returns a claim that is a NumericDate (RFC 7519, section 2), or nil if it is
// absent. It must be a JSON number (C4.22), and is clamped to the years 1 to 9999.
func dateOf(fields map[string]jsontext.Value, claim string) (*jwt.NumericDate, error) {
	const first, last = -62135596800, 253402300799
	value, present := fields[claim]
	if !present {
		return nil, nil //nolint:nilnil // required by jwt.Claims
	}
	if value.Kind() != jsontext.KindNumber {
		return nil, &claimError{claim, "a number"}
	}
	seconds, _ := strconv.ParseFloat(string(value), 64) // out of range is ±Inf
	whole, fraction := math.Modf(min(max(seconds, first), last))
	return &jwt.NumericDate{Time: time.Unix(int64(whole), int64(fraction*1e9))}, nil
}

// tokenCharacters are the characters of a compact serialisation (RFC 7515, section 7.1). The
// decoder of the standard library would also skip line ends.
const tokenCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// checkForm checks what the library does not: a token has three segments of unpadded
// base64url, and its header is a JSON object without duplicates and without crit, since
// no extension is supported (RFC 7515, section 4.1.11).
func checkForm(token string) error {
	segments := strings.Split(token, ".")
	if len(segments) != 3 || strings.Trim(token, tokenCharacters) != "" {
		return jwt.ErrTokenMalformed
	}
	header, err := base64.RawURLEncoding.Strict().DecodeString(segments[0])
	if err != nil {
		return jwt.ErrTokenMalformed
	}
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(header, &fields); err != nil || fields == nil {
		return jwt.ErrTokenMalformed
	}
	if _, critical := fields["crit"]; critical {
		return fmt.Errorf("%w: crit", jwt.ErrTokenMalformed)
	}
	return nil
}
