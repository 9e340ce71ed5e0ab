package durability

import (
	"errors"
	"strings"
	"testing"

	"plantstore/models"
)

var (
	created   = answer{status: ok}                                                                                        //nolint:gochecknoglobals // never changed
	identical = answer{status: 400, code: conflict, message: "id: 1 is taken; the stored plant is identical to this one"} //nolint:gochecknoglobals // never changed
	refused   = answer{status: 400, code: noSpace, message: "the plant was not stored: there is no space left"}           //nolint:gochecknoglobals // never changed
	doubtful  = answer{status: 400, code: 500, message: "it is not known whether the plant was stored"}                   //nolint:gochecknoglobals // never changed
	none      = answer{err: errors.New("connection reset")}                                                               //nolint:gochecknoglobals // never changed
)

// TestLedger sees what is wrong after a power cut when the log has length 10.
func TestLedger(t *testing.T) {
	t.Parallel()
	sent := models.Plant{Name: "sent"}
	there, other := map[int64]models.Plant{1: sent}, map[int64]models.Plant{1: {Name: "other"}}
	for name, tt := range map[string]struct {
		answers  []answer
		position int // of the last answer
		found    map[int64]models.Plant
		want     string // in what is wrong; empty: nothing is
	}{
		"stored, there":            {[]answer{created}, 10, there, ""},
		"stored, lost":             {[]answer{created}, 10, nil, "is lost"},
		"stored after the cut":     {[]answer{created}, 11, nil, ""},
		"stored, another is there": {[]answer{created}, 10, other, "not as it was sent"},
		"refused, not there":       {[]answer{refused}, 10, nil, ""},
		"refused, there":           {[]answer{refused}, 10, there, "was answered 507"},
		"doubtful, there":          {[]answer{doubtful}, 10, there, ""},
		"doubtful, not there":      {[]answer{doubtful}, 10, nil, ""},
		"no answer, there":         {[]answer{none}, 10, there, ""},
		"doubtful, then refused":   {[]answer{doubtful, refused}, 10, there, ""},
		"doubtful, then identical": {[]answer{doubtful, identical}, 10, nil, "is lost"},
		"refused, then stored":     {[]answer{refused, created}, 10, there, ""},
		"never sent":               {nil, 10, there, "never sent"},
		"identical at once":        {[]answer{identical}, 10, there, "no such plant"},
		"stored twice":             {[]answer{created, created}, 10, there, "stored already"},
		"refused, then identical":  {[]answer{refused, identical}, 10, there, "no such plant"},
		"status":                   {[]answer{{status: 500, message: "was not stored"}}, 10, nil, "its status is 500"},
		"vague":                    {[]answer{{status: 400, code: 500, message: "oops"}}, 10, nil, "does not say"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger()
			for i, a := range tt.answers {
				l.note(1, sent, a, tt.position+1-len(tt.answers)+i)
			}
			got := strings.Join(append(l.lies, l.check(10, tt.found)...), "; ")
			if !strings.Contains(got, tt.want) || (got != "") != (tt.want != "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
