package middleware

import (
	"mime"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// JSONOnly lets a request pass only if its body is application/json in UTF-8
// and not compressed (C2.9).
func JSONOnly() gin.HandlerFunc {
	return func(c *gin.Context) {
		header := c.Request.Header
		switch {
		case !isJSON(header["Content-Type"]):
			Fail(c, models.NewError(models.CodeUnsupportedMedia,
				"send the body with one Content-Type: application/json, in UTF-8"))
		case isCoded(header["Content-Encoding"]):
			c.Header("Accept-Encoding", "identity") // RFC 9110, section 12.5.3
			Fail(c, models.NewError(models.CodeUnsupportedMedia,
				"send the body without a Content-Encoding"))
		default:
			c.Next()
		}
	}
}

// isJSON reports whether the values of Content-Type are one, and that one
// application/json with no charset but utf-8.
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

// withoutEmptyParameters takes out the empty parameters that RFC 9110, section
// 5.6.6, allows and package mime does not. In a quoted string it may change what
// is not looked at.
func withoutEmptyParameters(value string) string {
	parts := strings.Split(value, ";")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool {
		return strings.Trim(part, " \t") == ""
	}), ";")
}

// isCoded reports whether the values of Content-Encoding name any coding but
// identity.
func isCoded(values []string) bool {
	for coding := range strings.SplitSeq(strings.Join(values, ","), ",") {
		coding = strings.Trim(coding, " \t")
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return true
		}
	}
	return false
}
