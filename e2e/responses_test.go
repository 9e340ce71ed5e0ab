package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/oas"
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

// create returns the bytes of a POST /plants with that token and body.
func create(token, body string, headers ...string) string {
	return rawRequest("POST /plants HTTP/1.1", append([]string{
		"Authorization: Bearer " + token, "Content-Type: application/json", "Content-Length: " + strconv.Itoa(len(body)),
	}, headers...), body)
}

func rawRequest(line string, headers []string, body string) string {
	return line + "\r\nHost: plants.test\r\n" + strings.Join(append(headers, "", ""), "\r\n") + body
}

// TestResponsesMatchDescription provokes each kind of failure that a client can provoke, and
// checks each response against the description that the server serves.
func TestResponsesMatchDescription(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{
		"JWT_SECRET=" + strings.Repeat("s", 32), "JWT_SCOPE=plants:create",
	}})
	checker := checkerOf(t, server)
	token, weak := server.Token(), server.Token("--jwt-scope", "plants:read")
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
		"too large":         {rawRequest("POST /plants HTTP/1.1", length(1<<20+1), strings.Repeat(" ", 1<<20+1)), 413},
		"wrong media type":  {rawRequest("POST /plants HTTP/1.1", length(0)[:1], ""), 415},
		"coded":             {create(token, `{"id":5,"name":"a"}`, "Content-Encoding: gzip"), 415},
		"unknown Expect":    {create(token, `{"id":5,"name":"a"}`, "Expect: a miracle"), 417},
		"no NewPlant":       {create(token, `{"name":null}`), 422},
		"header too large":  {create(token, `{"id":5,"name":"a"}`, "X-Filler: "+strings.Repeat("x", 5<<18)), 431},
		"transfer coding":   {rawRequest("POST /plants HTTP/1.1", []string{"Transfer-Encoding: gzip"}, ""), 501},
		"HTTP version":      {rawRequest("POST /plants HTTP/3.0", nil, ""), 505},
	}
	provoked := map[models.Code]bool{408: true, 409: true, 429: true} // provoked by other tests
	for name, tt := range tests {
		provoked[tt.want] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := exchange(t, server, tt.request)
			if err := checker.Check(response); err != nil {
				t.Error(err)
			}
			if got := failure(t, response); got.Code != tt.want {
				t.Errorf("error %d (%s), want %d", got.Code, got.Message, tt.want)
			}
		})
	}
	delete(provoked, 0)
	checkCodes(t, provoked)
}

// checkCodes fails unless the codes and the unprovoked ones are all codes of the list.
func checkCodes(t *testing.T, provoked map[models.Code]bool) {
	t.Helper()
	var all []models.Code
	for _, c := range models.Codes() {
		all = append(all, c.Code)
	}
	got := slices.Sorted(maps.Keys(provoked))
	out := unprovoked()
	want := slices.DeleteFunc(all, func(c models.Code) bool { return out[c] != "" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes that are provoked (-want +got):\n%s", diff)
	}
}

// TestSlowBody checks the response to a body that never ends. The time-out is short, so the
// server gets only this request.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"REQUEST_TIMEOUT=300ms"}})
	checker := checkerOf(t, server)
	complete := create(server.Token(), `{"id":1,"name":"a"}`)
	response := exchange(t, server, strings.TrimSuffix(complete, "}"))
	if err := checker.Check(response); err != nil {
		t.Error(err)
	}
	if got := failure(t, response); got.Code != models.CodeRequestTimeout {
		t.Errorf("error %d (%s), want 408", got.Code, got.Message)
	}
}

func TestIDIsTakenOnce(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	token := server.Token()
	client := &http.Client{Timeout: patience, Transport: &oas.Recorder{
		Checker: checkerOf(t, server),
		Base:    http.DefaultTransport,
		Report:  func(_ *http.Request, err error) { t.Error(err) },
	}}
	for _, step := range []struct {
		body    string
		want    models.Code
		message string
	}{
		{`{"id":9007199254740993,"name":"a","tag":"b"}`, 0, ""},
		{`{"id":9007199254740993,"name":"a","tag":"b"}`, 409, "is identical"},
		{`{"id":9007199254740993,"name":"a"}`, 409, "is different"},
		{`{"id":9007199254740993,"name":"A","tag":"b"}`, 409, "is different"},
		{`{"id":9007199254740992,"name":"a","tag":"b"}`, 0, ""},
	} {
		response := post(t, client, server, token, step.body)
		if got := failure(t, response); got.Code != step.want || !strings.Contains(got.Message, step.message) {
			t.Errorf("%s: error %d (%s), want %d (%s)", step.body, got.Code, got.Message, step.want, step.message)
		}
	}
}

// post sends a NewPlant. The caller reads the body of the response to its end.
func post(t *testing.T, client *http.Client, server *plantstore.Server, token, body string) *http.Response {
	t.Helper()
	response, err := tryPost(t.Context(), client, server, token, body)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func tryPost(ctx context.Context, client *http.Client, server *plantstore.Server, token, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.BaseURL+"/plants", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	return client.Do(request)
}
