package models

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Violations of a number that is not a valid id, as messages for the client.
var (
	errNotInteger = errors.New("must be an integer, not a number with a fraction")
	errNotInt64   = errors.New("must be from -9223372036854775808 to 9223372036854775807")
)

// maxInt64Digits is the number of digits of the longest int64.
const maxInt64Digits = 19

// parseInteger returns the value of a JSON number that is an integer as JSON Schema 2020-12 defines it: 1.0, 1e2
// and 100e-2 are integers (C2.13). Time is linear in its length, whatever its exponent is. It returns
// errNotInteger or errNotInt64.
func parseInteger(number []byte) (int64, error) {
	if v, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return v, nil
	}
	unsigned := bytes.TrimPrefix(number, []byte("-"))
	sign := number[:len(number)-len(unsigned)]
	digits, scale := significant(unsigned)
	switch {
	case len(digits) == 0:
		return 0, nil
	case scale < 0:
		return 0, errNotInteger
	case int64(len(digits))+scale > maxInt64Digits:
		return 0, errNotInt64
	}
	v, err := strconv.ParseInt(string(sign)+string(digits)+strings.Repeat("0", int(scale)), 10, 64)
	if err != nil {
		return 0, errNotInt64
	}
	return v, nil
}

// significant returns the digits of an unsigned JSON number without leading and trailing zeros, and the power
// of ten to multiply them with. That is clamped to a bound that the digits of no body can compensate.
func significant(number []byte) (digits []byte, scale int64) {
	const bound = math.MaxInt64 / 4
	mantissa := number
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		exponent, _ := strconv.ParseInt(string(number[i+1:]), 10, 64) // out of range: the nearest int64
		mantissa, scale = number[:i], min(max(exponent, -bound), bound)
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	digits = slices.Concat(whole, fraction)
	kept := bytes.TrimRight(digits, "0")
	return bytes.TrimLeft(kept, "0"), scale - int64(len(fraction)) + int64(len(digits)-len(kept))
}
