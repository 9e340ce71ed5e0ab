package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// unprovoked returns the values of error that no client can provoke on a healthy server, with
// the cause of each.
func unprovoked() map[models.Code]string {
	return map[models.Code]string{
		models.CodeInternal:          "a fault of the server",
		models.CodeUnavailable:       "more load than a test should make, or a fault of the disk",
		models.CodeInsufficientSpace: "a full disk",
	}
}

// TestResponsesMatchDescription provokes each kind of failure that a client can provoke, and
// checks each response against the description that the server serves.
func TestResponsesMatchDescription(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{
		"JWT_SECRET=" + strings.Repeat("s", 32), "JWT_SCOPE=plants:create", "REQUEST_TIMEOUT=2s",
	}})
	checker := newChecker(t, server)
	token, weak := server.Token(), server.Token("--jwt-scope", "plants:read")
	server.Post(token, `{"id":0,"name":"a"}`)
	length := func(n int) []string {
		return []string{"Authorization: Bearer " + token, "Content-Type: application/json", fmt.Sprintf("Content-Length: %d", n)}
	}
	tests := map[string]struct {
		request string
		want    models.Code // 0 means a Plant
	}{
		"plant":             {create(token, `{"id":1,"name":"a","tag":"b"}`), 0},
		"plant without tag": {create(token, `{"id":2,"name":"a"}`), 0},
		"great id":          {create(token, `{"id":9223372036854775807,"name":"a"}`), 0},
		"unknown field":     {create(token, `{"id":3,"name":"a","height":[1,{}]}`), 0},
		"empty":             {create(token, ``), 400},
		"malformed JSON":    {create(token, `{"id":4,`), 400},
		"malformed HTTP":    {"what is this?\r\n\r\n", 400},
		"no Host":           {"POST /plants HTTP/1.1\r\n\r\n", 400},
		"no credential":     {rawRequest("POST /plants HTTP/1.1", nil, ""), 401},
		"bad token":         {create("a.b.c", `{"id":5,"name":"a"}`), 401},
		"no scope":          {create(weak, `{"id":5,"name":"a"}`), 403},
		"no such path":      {rawRequest("POST /plants/ HTTP/1.1", nil, ""), 404},
		"wrong method":      {rawRequest("GET /plants HTTP/1.1", nil, ""), 405},
		"slow body":         {rawRequest("POST /plants HTTP/1.1", length(9), "{"), 408},
		"identical":         {create(token, `{"id":0,"name":"a"}`), 409},
		"different":         {create(token, `{"id":0,"name":"b"}`), 409},
		"too large":         {rawRequest("POST /plants HTTP/1.1", length(1<<20+1), strings.Repeat(" ", 1<<20+1)), 413},
		"wrong media type":  {rawRequest("POST /plants HTTP/1.1", length(0)[:1], ""), 415},
		"coded":             {create(token, `{"id":5,"name":"a"}`, "Content-Encoding: gzip"), 415},
		"unknown Expect":    {create(token, `{"id":5,"name":"a"}`, "Expect: a miracle"), 417},
		"no NewPlant":       {create(token, `{"name":null}`), 422},
		"header too large":  {create(token, `{"id":5,"name":"a"}`, "X-Filler: "+strings.Repeat("x", 5<<18)), 431},
		"transfer coding":   {rawRequest("POST /plants HTTP/1.1", []string{"Transfer-Encoding: gzip"}, ""), 501},
		"HTTP version":      {rawRequest("POST /plants HTTP/3.0", nil, ""), 505},
	}
	provoked := map[models.Code]bool{429: true} // by TestRateLimit
	for name, tt := range tests {
		provoked[tt.want] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := exchange(t, server, tt.request)
			if err := checker.check(r); err != nil {
				t.Error(err)
			}
			if r.Code != tt.want {
				t.Errorf("error %d (%s), want %d", r.Code, r.Message, tt.want)
			}
		})
	}
	delete(provoked, 0)
	var want []models.Code
	for _, c := range models.Codes() {
		if unprovoked()[c.Code] == "" {
			want = append(want, c.Code)
		}
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(provoked))); diff != "" {
		t.Errorf("codes that are provoked (-want +got):\n%s", diff)
	}
}
