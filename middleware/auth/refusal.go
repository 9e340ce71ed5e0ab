package auth

import (
	"fmt"

	"plantstore/models"
)

// A Reason classifies refused credentials, for the metrics.
type Reason int

// The reasons. ReasonScope is error 403 and ReasonNoKeys error 503; all others are error 401.
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
	ReasonNoKeys                    // no key verifies it, and the issuer has never given keys
	reasons                         // their number
)

// String returns the value of the label in the metrics.
func (r Reason) String() string {
	return [reasons]string{
		"missing", "malformed", "expired", "not_yet_valid", "no_expiry", "unknown_key", "signature", "issuer", "audience", "scope", "no_keys",
	}[r]
}

// code returns the code of the Error.
func (r Reason) code() models.Code {
	switch r {
	case ReasonScope:
		return models.CodeForbidden
	case ReasonNoKeys:
		return models.CodeUnavailable
	}
	return models.CodeUnauthorized
}

// CountMissing counts a request without a bearer token, which [Verifier.Verify] does not get.
func (v *Verifier) CountMissing() { v.refused[ReasonMissing].Add(1) }

// A refusal is why a token is not accepted.
type refusal struct {
	reason  Reason
	message string // to the client (C1.5)
}

// Error returns the reason, for the log, which has nothing of a token that was not verified (C4.25).
func (r *refusal) Error() string { return r.reason.String() }

func refuse(reason Reason, format string, args ...any) *refusal {
	return &refusal{reason: reason, message: fmt.Sprintf(format, args...)}
}

// Refusals without details.
var (
	errMalformed   = refuse(ReasonMalformed, "the access token is not a well-formed JSON Web Token")
	errExpired     = refuse(ReasonExpired, "the access token has expired; get a new one")
	errNotYetValid = refuse(ReasonNotYetValid, "the access token is not valid yet")
	errUnknownKey  = refuse(ReasonUnknownKey, unsigned)
	errSignature   = refuse(ReasonSignature, unsigned)
	errNoKeys      = refuse(ReasonNoKeys, "the server has no keys of its issuer yet, so it cannot verify the access token; try again later")
)

const unsigned = "the access token is not signed with a key that this server accepts"
