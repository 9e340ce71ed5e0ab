package operate

import (
	"strings"
	"testing"
)

// TestAllowLists checks what each listener serves.
func TestAllowLists(t *testing.T) {
	t.Parallel()
	const (
		admin = "GET /livez, GET /readyz, GET /metrics, POST /reset, GET /requests, DELETE /requests"
		both  = "GET /readyz, POST /reset, GET /requests, "
		page  = "GET /count, GET /page/plants, GET /page/creates, GET /page/requests"
	)
	for listener, want := range map[Listener]string{
		Admin:  admin,
		Page:   page,
		Socket: both + "GET /info, GET /plant, GET /plants, POST /plants, GET /snapshot, " + page,
	} {
		var got []string
		for _, e := range endpoints() {
			if e.listeners&listener != 0 {
				got = append(got, strings.TrimSuffix(e.methods, ", HEAD")+" "+e.path)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%d serves %s, want %s", listener, strings.Join(got, ", "), want)
		}
	}
}
