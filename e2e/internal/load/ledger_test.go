package load

import (
	"errors"
	"net"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// refusal returns a response that is an Error.
func refusal(status int, code models.Code, message string) Response {
	return Response{Reply: plantstore.Reply{Status: status, Error: models.Error{Code: code, Message: message}}}
}

// TestLedger checks that the ledger finds the violations after a power failure at the time 10.
func TestLedger(t *testing.T) {
	t.Parallel()
	var (
		created   = Response{Reply: plantstore.Reply{Status: 200}}
		identical = refusal(400, 409, "id: 1 is taken; the stored plant is identical to this one")
		different = refusal(400, 409, "id: 1 is taken; the stored plant is different from this one")
		refused   = refusal(400, 507, "the plant was not stored: there is no space left")
		ambiguous = refusal(400, 500, "the outcome is unknown")
		none      = Response{Err: errors.New("connection reset")}
		noServer  = Response{Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}
	)
	sent := models.Plant{Name: "sent"}
	there, other := map[int64]models.Plant{1: sent}, map[int64]models.Plant{1: {Name: "other"}}
	for name, tt := range map[string]struct {
		responses []Response
		at        int // time of the last response
		found     map[int64]models.Plant
		want      string // part of the violation; empty: there is none
	}{
		"stored, there":             {[]Response{created}, 10, there, ""},
		"stored, lost":              {[]Response{created}, 10, nil, "is lost"},
		"stored after the cut":      {[]Response{created}, 11, nil, ""},
		"stored, another is there":  {[]Response{created}, 10, other, "not as it was sent"},
		"refused, not there":        {[]Response{refused}, 10, nil, ""},
		"refused, there":            {[]Response{refused}, 10, there, "error 507"},
		"ambiguous, there":          {[]Response{ambiguous}, 10, there, ""},
		"ambiguous, not there":      {[]Response{ambiguous}, 10, nil, ""},
		"no response, there":        {[]Response{none}, 10, there, ""},
		"no server, there":          {[]Response{noServer}, 10, there, "connection refused"},
		"ambiguous, then refused":   {[]Response{ambiguous, refused}, 10, there, ""},
		"ambiguous, then identical": {[]Response{ambiguous, identical}, 10, nil, "is lost"},
		"refused, then stored":      {[]Response{refused, created}, 10, there, ""},
		"never sent":                {nil, 10, there, "never sent"},
		"identical at once":         {[]Response{identical}, 10, there, "no such plant"},
		"different":                 {[]Response{different}, 10, nil, "no other client"},
		"stored twice":              {[]Response{created, created}, 10, there, "stored already"},
		"refused, then identical":   {[]Response{refused, identical}, 10, there, "no such plant"},
		"status":                    {[]Response{refusal(500, 500, "was not stored")}, 10, nil, "no such response"},
		"unclear":                   {[]Response{refusal(400, 500, "oops")}, 10, nil, "no such response"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := NewLedger()
			for i, r := range tt.responses {
				l.Note(1, sent, r, tt.at+1-len(tt.responses)+i)
			}
			got := strings.Join(append(l.Contradictions(), l.Check(10, tt.found)...), "; ")
			if !strings.Contains(got, tt.want) || (got != "") != (tt.want != "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
