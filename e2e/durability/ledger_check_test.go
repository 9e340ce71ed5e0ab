package durability

import (
	"errors"
	"strings"
	"testing"

	"plantstore/models"
)

var (
	created   = reply{status: ok}
	identical = reply{status: 400, code: conflict, message: "id: 1 is taken; the stored plant is identical to this one"}
	refused   = reply{status: 400, code: noSpace, message: "the plant was not stored: there is no space left"}
	ambiguous = reply{status: 400, code: 500, message: "the outcome is unknown"}
	none      = reply{err: errors.New("connection reset")}
)

// TestLedger checks that the ledger finds the violations after a power failure when the log has
// length 10.
func TestLedger(t *testing.T) {
	t.Parallel()
	sent := models.Plant{Name: "sent"}
	there, other := map[int64]models.Plant{1: sent}, map[int64]models.Plant{1: {Name: "other"}}
	for name, tt := range map[string]struct {
		responses []reply
		position  int // of the last response
		found     map[int64]models.Plant
		want      string // part of the violation; empty: there is none
	}{
		"stored, there":             {[]reply{created}, 10, there, ""},
		"stored, lost":              {[]reply{created}, 10, nil, "is lost"},
		"stored after the cut":      {[]reply{created}, 11, nil, ""},
		"stored, another is there":  {[]reply{created}, 10, other, "not as it was sent"},
		"refused, not there":        {[]reply{refused}, 10, nil, ""},
		"refused, there":            {[]reply{refused}, 10, there, "got 507"},
		"ambiguous, there":          {[]reply{ambiguous}, 10, there, ""},
		"ambiguous, not there":      {[]reply{ambiguous}, 10, nil, ""},
		"no response, there":        {[]reply{none}, 10, there, ""},
		"ambiguous, then refused":   {[]reply{ambiguous, refused}, 10, there, ""},
		"ambiguous, then identical": {[]reply{ambiguous, identical}, 10, nil, "is lost"},
		"refused, then stored":      {[]reply{refused, created}, 10, there, ""},
		"never sent":                {nil, 10, there, "never sent"},
		"identical at once":         {[]reply{identical}, 10, there, "no such plant"},
		"stored twice":              {[]reply{created, created}, 10, there, "stored already"},
		"refused, then identical":   {[]reply{refused, identical}, 10, there, "no such plant"},
		"status":                    {[]reply{{status: 500, message: "was not stored"}}, 10, nil, "its status is 500"},
		"unclear":                   {[]reply{{status: 400, code: 500, message: "oops"}}, 10, nil, "does not report"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger()
			for i, a := range tt.responses {
				l.note(1, sent, a, tt.position+1-len(tt.responses)+i)
			}
			got := strings.Join(append(l.contradictions, l.check(10, tt.found)...), "; ")
			if !strings.Contains(got, tt.want) || (got != "") != (tt.want != "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
