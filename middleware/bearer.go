package middleware

import (
	"errors"
	"strings"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// challenge is the WWW-Authenticate value for a request without a credential
// (RFC 6750, section 3); what was wrong with one that came is appended.
const challenge = `Bearer realm="plants"`

// Verify returns the subject of an access token that may be used now. Its error
// is a [models.Error] of CodeUnauthorized or CodeForbidden.
type Verify func(token string) (subject string, err error)

// Bearer lets a request pass only with one Authorization header that carries a
// token which verify accepts (C4.20). Any other fails with a WWW-Authenticate
// header as RFC 6750 has it.
func Bearer(verify Verify) gin.HandlerFunc {
	return func(c *gin.Context) {
		token, problem, err := credential(c.Request.Header["Authorization"])
		if err == nil {
			var subject string
			if subject, err = verify(token); err == nil {
				if models.HoldsToken(subject) { // less would do, but it may be a name
					subject = redacted
				}
				lineOf(c).subject = subject
				c.Next()
				return
			}
			problem = problemOf(err)
		}
		c.Header("WWW-Authenticate", challenge+problem)
		Fail(c, err)
	}
}

// credential returns the token in the values of Authorization, or what is wrong
// with them: the problem as WWW-Authenticate names it, and the Error.
func credential(values []string) (token, problem string, err error) {
	if len(values) > 1 {
		return "", `, error="invalid_request"`,
			models.NewError(models.CodeUnauthorized, "send one Authorization header, not several")
	}
	scheme := ""
	if len(values) == 1 {
		scheme, token, _ = strings.Cut(values[0], " ")
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return "", "", models.NewError(models.CodeUnauthorized,
			"send an access token in the header Authorization: Bearer <ACCESS_TOKEN>")
	}
	return strings.TrimLeft(token, " "), "", nil
}

// problemOf names the refusal of a token as RFC 6750, section 3.1, does.
func problemOf(err error) string {
	var failure *models.Error
	if errors.As(err, &failure) && failure.Code == models.CodeForbidden {
		return `, error="insufficient_scope"`
	}
	return `, error="invalid_token"`
}
