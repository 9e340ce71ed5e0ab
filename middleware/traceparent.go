package middleware

import "regexp"

// traceparent is the format of W3C Trace Context, section 3.2: version, trace id, parent id and
// flags. Future versions may have more fields.
var traceparent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// maxTraceparent is the maximum length of a value that is searched.
const maxTraceparent = 255

// traceID returns the trace id in the values of traceparent, or "" unless there is
// exactly one valid value.
func traceID(values []string) string {
	if len(values) != 1 || len(values[0]) > maxTraceparent {
		return ""
	}
	m := traceparent.FindStringSubmatch(values[0])
	if m == nil {
		return ""
	}
	version, trace, parent, more := m[1], m[2], m[3], m[4]
	switch {
	case version == "ff", version == "00" && more != "",
		trace == "00000000000000000000000000000000", parent == "0000000000000000":
		return ""
	}
	return trace
}
