package models

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

func TestParseInteger(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 10_000)
	tests := []struct {
		number string
		want   int64
		err    error
	}{
		{"0", 0, nil},
		{"-0", 0, nil},
		{"-0.0", 0, nil},
		{"0e999999999999999999999", 0, nil},
		{"0.000e-99999999999999999999", 0, nil},
		{"7", 7, nil},
		{"-7", -7, nil},
		{"1.0", 1, nil},
		{"-1.000", -1, nil},
		{"1e2", 100, nil},
		{"1E+2", 100, nil},
		{"100e-2", 1, nil},
		{"0.5e1", 5, nil},
		{"12.50e1", 125, nil},
		{"1." + zeros, 1, nil},
		{"0." + zeros + "1e10001", 1, nil},
		{"1" + zeros + "e-10000", 1, nil},
		{"9007199254740993", 9007199254740993, nil},
		{"9007199254740993.0", 9007199254740993, nil},
		{"9223372036854775807", math.MaxInt64, nil},
		{"9223372036854775807.000", math.MaxInt64, nil},
		{"9.223372036854775807e18", math.MaxInt64, nil},
		{"-9223372036854775808", math.MinInt64, nil},
		{"-9.223372036854775808E18", math.MinInt64, nil},
		{"-92233720368547758080e-1", math.MinInt64, nil},
		{"9223372036854775808", 0, errNotInt64},
		{"-9223372036854775809", 0, errNotInt64},
		{"9.223372036854775808e18", 0, errNotInt64},
		{"9999999999999999999", 0, errNotInt64},
		{"18446744073709551616", 0, errNotInt64},
		{"18446744073709551617.0", 0, errNotInt64},
		{"1e19", 0, errNotInt64},
		{"1e400", 0, errNotInt64},
		{"-1e1000000000", 0, errNotInt64},
		{"1e99999999999999999999", 0, errNotInt64},
		{"1" + zeros, 0, errNotInt64},
		{"1.5", 0, errNotInteger},
		{"-0.1", 0, errNotInteger},
		{"1e-1", 0, errNotInteger},
		{"1e-99999999999999999999", 0, errNotInteger},
		{"1e-9223372036854775808", 0, errNotInteger},
		{"9223372036854775807.5", 0, errNotInteger},
		{"99999999999999999999999.5", 0, errNotInteger},
		{"0." + zeros + "1", 0, errNotInteger},
	}
	for _, tt := range tests {
		name := tt.number[:min(len(tt.number), 40)]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseInteger([]byte(tt.number))
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("parseInteger = %d, %v; want %d, %v", got, err, tt.want, tt.err)
			}
		})
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
