package middleware

import (
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// JSONOnly requires a body of type application/json, in UTF-8 and without a content
// coding (C2.9).
func JSONOnly() gin.HandlerFunc {
	return func(c *gin.Context) {
		types, codings := c.Request.Header["Content-Type"], c.Request.Header["Content-Encoding"]
		switch {
		case len(types) == 0:
			Fail(c, models.NewError(models.CodeUnsupportedMedia,
				"send the body with one Content-Type: application/json, in UTF-8; there is none"))
		case !isJSON(types):
			Fail(c, models.Errorf(models.CodeUnsupportedMedia,
				"send the body with one Content-Type: application/json, in UTF-8; it is %s", shown(types)))
		case isCoded(codings):
			c.Header("Accept-Encoding", "identity") // RFC 9110, section 12.5.3
			Fail(c, models.Errorf(models.CodeUnsupportedMedia,
				"send the body without a Content-Encoding; it is %s", shown(codings)))
		}
	}
}

// shown returns the values of a header field for an Error, without a token.
func shown(values []string) string {
	return strconv.Quote(models.ClientText(strings.Join(values, ", ")))
}

// isJSON reports whether Content-Type has exactly one value, application/json, without
// a charset other than utf-8.
func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	if values[0] == "application/json" {
		return true
	}
	mediaType, parameters, err := mime.ParseMediaType(withoutEmptyParameters(values[0]))
	if err != nil || mediaType != "application/json" {
		return false
	}
	charset, given := parameters["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

// withoutEmptyParameters removes the empty parameters that RFC 9110, section 5.6.6,
// allows and package mime rejects. It may alter quoted strings, but only those of
// parameters that are ignored.
func withoutEmptyParameters(value string) string {
	parts := strings.Split(value, ";")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool {
		return strings.Trim(part, " \t") == ""
	}), ";")
}

// isCoded reports whether Content-Encoding lists a coding other than identity.
func isCoded(values []string) bool {
	for coding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		coding = strings.Trim(coding, " \t")
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return true
		}
	}
	return false
}
