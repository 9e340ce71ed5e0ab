package models

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// TestParseInteger checks numbers that math/big cannot expand, see FuzzParseInteger.
func TestParseInteger(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 10_000)
	for number, want := range map[string]struct {
		value int64
		err   error
	}{
		"0e999999999999999999999":  {0, nil},
		"0.000e-99999999999999999": {0, nil},
		"1." + zeros:               {1, nil},
		"0." + zeros + "1e10001":   {1, nil},
		"1" + zeros + "e-10000":    {1, nil},
		"-1e1000000000":            {0, errNotInt64},
		"1e99999999999999999999":   {0, errNotInt64},
		"1" + zeros:                {0, errNotInt64},
		"1e-99999999999999999999":  {0, errNotInteger},
		"1e-9223372036854775808":   {0, errNotInteger},
		"0." + zeros + "1":         {0, errNotInteger},
	} {
		if got, err := parseInteger([]byte(number)); got != want.value || !errors.Is(err, want.err) {
			t.Errorf("parseInteger(%.40s) = %d, %v, want %d, %v", number, got, err, want.value, want.err)
		}
	}
}

// FuzzParseInteger compares parseInteger with math/big, for small exponents only, since
// math/big expands them.
func FuzzParseInteger(f *testing.F) {
	for _, seed := range []struct {
		integer, fraction string
		exponent          int16
		negative          bool
	}{
		{"0", "", 0, true},
		{"1", "0", 0, false},
		{"100", "", -2, false},
		{"9223372036854775807", "", 0, false},
		{"9223372036854775808", "", 0, true},
		{"9", "223372036854775808", 18, false},
		{"1", "5", 0, false},
		{"12", "50", 1, true},
		{"18446744073709551617", "0", 0, false},
		{"9223372036854775807", "5", 0, false},
		{"9", "223372036854775808", 18, true},
		{"92233720368547758080", "", -1, true},
		{"1", "", 19, false},
	} {
		f.Add(seed.integer, seed.fraction, seed.exponent, seed.negative)
	}
	f.Fuzz(func(t *testing.T, integer, fraction string, exponent int16, negative bool) {
		number := jsonNumber(integer, fraction, exponent%400, negative)
		want, ok := new(big.Rat).SetString(number)
		if !ok {
			t.Fatalf("math/big does not read %q", number)
		}
		got, err := parseInteger([]byte(number))
		switch {
		case !want.IsInt():
			if !errors.Is(err, errNotInteger) {
				t.Errorf("%s: got %d, %v; want errNotInteger", number, got, err)
			}
		case !want.Num().IsInt64():
			if !errors.Is(err, errNotInt64) {
				t.Errorf("%s: got %d, %v; want errNotInt64", number, got, err)
			}
		case err != nil || got != want.Num().Int64():
			t.Errorf("%s: got %d, %v; want %v", number, got, err, want.Num())
		}
	})
}

// jsonNumber returns a number of the grammar of RFC 8259 with the given parts.
func jsonNumber(integer, fraction string, exponent int16, negative bool) string {
	number := strings.TrimLeft(onlyDigits(integer), "0")
	if number == "" {
		number = "0"
	}
	if negative {
		number = "-" + number
	}
	if fraction = onlyDigits(fraction); fraction != "" {
		number += "." + fraction
	}
	if exponent != 0 {
		number += "e" + strconv.Itoa(int(exponent))
	}
	return number
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
}
