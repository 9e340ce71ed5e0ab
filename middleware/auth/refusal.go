package auth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"

	"plantstore/models"
)

// A Reason classifies refused credentials, for the metrics.
type Reason int

// The reasons. Only that of ReasonScope is error 403.
const (
	ReasonMissing     Reason = iota // the request has no bearer token, or several
	ReasonMalformed                 // not a JSON Web Token, or a claim of the wrong type
	ReasonExpired                   // exp is over
	ReasonNotYetValid               // nbf is not reached
	ReasonNoExpiry                  // exp is required and missing
	ReasonUnknownKey                // no key matches the kid and the algorithm
	ReasonSignature                 // not the signature of a key
	ReasonIssuer                    // iss is another one, or missing
	ReasonAudience                  // aud is another one, or missing
	ReasonScope                     // valid, without the required scope
	reasons                         // their number
)

// String returns the value of the label in the metrics.
func (r Reason) String() string {
	return [reasons]string{
		"missing", "malformed", "expired", "not_yet_valid", "no_expiry", "unknown_key", "signature", "issuer", "audience", "scope",
	}[r]
}

type refusals [reasons]atomic.Uint64

// CountMissing counts a request without a bearer token, which [Verifier.Verify] does not get.
func (v *Verifier) CountMissing() { v.refused[ReasonMissing].Add(1) }

// refuse counts a token that is not valid, and returns the Error. Its cause, which only the log has,
// contains the kid.
func (v *Verifier) refuse(token string, err error) *models.Error {
	reason, message := classify(err)
	if token == "" {
		message = "the access token is empty; plantstore token prints one"
	}
	v.refused[reason].Add(1)
	if kid := kidOf(token); kid != "" {
		err = fmt.Errorf("kid %q: %w", kid, err)
	}
	return models.NewError(models.CodeUnauthorized, message).WithCause(err)
}

// classify returns why a token is refused, and the message to the client (C1.5).
func classify(err error) (Reason, string) {
	var wrong *claimError
	var missing missingError
	switch {
	case errors.As(err, &wrong):
		return ReasonMalformed, fmt.Sprintf("the access token is not valid: %s must be %s", wrong.claim, wrong.want)
	case errors.Is(err, jwt.ErrTokenExpired):
		return ReasonExpired, "the access token has expired; get a new one"
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return ReasonNotYetValid, "the access token is not valid yet"
	case errors.As(err, &missing):
		return missing.reason(), "the access token lacks a claim that is required here: " + strings.Join(missing, ", ")
	case errors.Is(err, jwt.ErrTokenInvalidIssuer):
		return ReasonIssuer, "the access token is from an issuer (iss) that is not accepted here"
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return ReasonAudience, "the access token is meant for another audience (aud)"
	case errors.Is(err, jwt.ErrTokenMalformed):
		return ReasonMalformed, "the access token is not a well-formed JSON Web Token"
	}
	const unsigned = "the access token is not signed with a key that this server accepts"
	if errors.Is(err, errNoKey) || errors.Is(err, errUnknownKey) {
		return ReasonUnknownKey, unsigned
	}
	return ReasonSignature, unsigned
}

// A missingError lists required claims that a token lacks.
type missingError []string

func (e missingError) Error() string { return "the token lacks " + strings.Join(e, ", ") }

func (e missingError) reason() Reason {
	return map[string]Reason{"exp": ReasonNoExpiry, "iss": ReasonIssuer, "aud": ReasonAudience}[e[0]]
}

// maxKid is the maximum length in bytes of a kid in the log.
const maxKid = 64

// kidOf returns the beginning of the kid of a token, which need not be valid, or "".
func kidOf(token string) string {
	segment, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(segment)
	if err != nil {
		return ""
	}
	var header struct {
		Kid string `json:"kid"`
	}
	if json.Unmarshal(text, &header) != nil {
		return ""
	}
	kid := models.ClientText(header.Kid)
	return strings.ToValidUTF8(kid[:min(len(kid), maxKid)], "")
}
