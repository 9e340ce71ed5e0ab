package models_test

import (
	"strings"
	"testing"

	"plantstore/models"
)

// TestRequestID checks which ids of clients are kept, beyond the cases of C1.6. The others are replaced by
// a random one.
func TestRequestID(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sent []string
		kept bool
	}{
		"sane":     {[]string{"3f2c-a.b_c~d+e/f=g:h@i"}, true},
		"longest":  {[]string{strings.Repeat("x", 128)}, true},
		"too long": {[]string{strings.Repeat("x", 129)}, false},
		"quote":    {[]string{`a"b`}, false},
	} {
		first, second := models.RequestID(tt.sent), models.RequestID(tt.sent)
		if len(first) != 1 || tt.kept && first[0] != tt.sent[0] || !tt.kept && (first[0] == second[0] || len(first[0]) < 20) {
			t.Errorf("%s: %q and %q, want it kept: %t", name, first, second, tt.kept)
		}
	}
}
