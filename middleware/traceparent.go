package middleware

import "strings"

// The format of traceparent (W3C Trace Context, section 3.2): version, trace id, parent
// id and flags in lower-case hexadecimal, separated by dashes.
const (
	traceForm = "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx"
	traceFrom = len("xx-")
	traceTo   = traceFrom + 32
	noTrace   = "00000000000000000000000000000000"
	noParent  = "0000000000000000"
)

// traceID returns the trace id in the values of traceparent, or "" unless there is
// exactly one valid value. Future versions may have more fields.
func traceID(values []string) string {
	if len(values) != 1 || len(values[0]) < len(traceForm) {
		return ""
	}
	value, more := values[0][:len(traceForm)], values[0][len(traceForm):]
	for i, form := range []byte(traceForm) {
		if form == '-' && value[i] != '-' || form == 'x' && !strings.ContainsRune("0123456789abcdef", rune(value[i])) {
			return ""
		}
	}
	version, trace, parent := value[:2], value[traceFrom:traceTo], value[traceTo+1:traceTo+17]
	switch {
	case version == "ff", version == "00" && more != "", more != "" && more[0] != '-',
		trace == noTrace, parent == noParent:
		return ""
	}
	return trace
}
