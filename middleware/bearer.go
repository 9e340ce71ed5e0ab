package middleware

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// challenge is the value of WWW-Authenticate for a request without a credential. The
// error code of an invalid one is appended (RFC 6750, section 3).
const challenge = `Bearer realm="plants"`

// Verify returns the subject of a valid access token. The context is that of the request. Its error
// is a [models.Error] of CodeUnauthorized, of CodeForbidden, or of CodeUnavailable if it has no keys yet
// (C4.25b).
type Verify func(ctx context.Context, token string) (subject string, err error)

// Bearer requires exactly one Authorization header field with a token that verify
// accepts (C4.20). Other requests fail with WWW-Authenticate as in RFC 6750. It calls missing
// for those without a token, unless it is nil.
func Bearer(verify Verify, missing func()) gin.HandlerFunc {
	return func(c *gin.Context) {
		token, err := Token(c.Request.Header)
		sent := err == nil
		switch {
		case sent:
			OutcomeOf(c).Subject, err = verify(c.Request.Context(), token)
		case missing != nil:
			missing()
		}
		if err == nil {
			return
		}
		if failure, _ := errors.AsType[*models.Error](err); failure == nil || !failure.Code.ServerFault() {
			c.Header("WWW-Authenticate", challenge+errorCode(err, sent))
		}
		Fail(c, err)
	}
}

var errManyTokens = models.NewError(models.CodeUnauthorized, "send one Authorization header field, not several")

// Token returns the access token in the header of a request, which may be empty. Its error is a
// [models.Error] for a request without exactly one token.
func Token(header http.Header) (token string, err error) {
	values := header["Authorization"]
	if len(values) > 1 {
		return "", errManyTokens
	}
	value := strings.Join(values, "")
	sent, token, _ := strings.Cut(value, " ")
	scheme, hint := models.CredentialScheme(value), ""
	switch {
	case scheme == "Bearer":
		return strings.TrimLeft(token, " "), nil
	case strings.EqualFold(sent, "Bearer:"):
		hint = "; write it without a colon after Bearer"
	case scheme != "":
		hint = "; its scheme is " + scheme + ", not Bearer"
	case value != "": // perhaps the token, which an Error must not contain
		hint = "; write Bearer and a space before the token"
	case len(values) > 0:
		hint = "; it is empty, and plantstore token prints one"
	}
	return "", models.NewError(models.CodeUnauthorized,
		"send an access token in the header field Authorization: Bearer <ACCESS_TOKEN>"+hint)
}

// errorCode returns the error code of a rejected credential (RFC 6750, section 3.1). sent reports
// whether it was one token.
func errorCode(err error, sent bool) string {
	var failure *models.Error
	switch {
	case errors.Is(err, errManyTokens):
		return `, error="invalid_request"`
	case !sent:
		return ""
	case errors.As(err, &failure) && failure.Code == models.CodeForbidden:
		return `, error="insufficient_scope"`
	}
	return `, error="invalid_token"`
}
