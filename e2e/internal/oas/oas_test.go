package oas_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plantstore/e2e/internal/oas"
	"plantstore/internal/apidocs"
)

func newChecker(t *testing.T) *oas.Checker {
	t.Helper()
	description, err := apidocs.New("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	c, err := oas.NewChecker(description.YAML.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCheckSeesEachDeviation checks that Check reports every kind of deviation.
func TestCheckSeesEachDeviation(t *testing.T) {
	t.Parallel()
	c := newChecker(t)
	tests := map[string]struct {
		doctor func(*http.Response)
		status int
		body   string
		good   bool
	}{
		"plant":                  {nil, 200, `{"name":"a","tag":"b"}`, true},
		"plant without tag":      {nil, 200, `{"name":"a"}`, true},
		"plant, all empty":       {nil, 200, `{"name":"","tag":""}`, true},
		"error":                  {nil, 400, `{"error":422,"message":"no"}`, true},
		"plant with id":          {nil, 200, `{"id":1,"name":"a"}`, false},
		"plant without name":     {nil, 200, `{"tag":"a"}`, false},
		"name is null":           {nil, 200, `{"name":null}`, false},
		"tag is null":            {nil, 200, `{"name":"a","tag":null}`, false},
		"tag is a number":        {nil, 200, `{"name":"a","tag":1}`, false},
		"error as 200":           {nil, 200, `{"error":422,"message":"no"}`, false},
		"plant as 400":           {nil, 400, `{"name":"a"}`, false},
		"error of another value": {nil, 400, `{"error":418,"message":"no"}`, false},
		"error is a string":      {nil, 400, `{"error":"422","message":"no"}`, false},
		"no error":               {nil, 400, `{"message":"no"}`, false},
		"no message":             {nil, 400, `{"error":422}`, false},
		"empty message":          {nil, 400, `{"error":422,"message":""}`, false},
		"error with more":        {nil, 400, `{"error":422,"message":"no","detail":""}`, false},
		"array":                  {nil, 400, `[]`, false},
		"no JSON":                {nil, 400, `Bad Request`, false},
		"empty body":             {nil, 400, ``, false},
		"status 201":             {nil, 201, `{"name":"a"}`, false},
		"status 500":             {nil, 500, `{"error":500,"message":"no"}`, false},
		"text":                   {set("Content-Type", "text/plain"), 200, `{"name":"a"}`, false},
		"no Content-Type":        {unset("Content-Type"), 200, `{"name":"a"}`, false},
		"no X-Request-Id":        {unset("X-Request-Id"), 200, `{"name":"a"}`, false},
		"odd X-Request-Id":       {set("X-Request-Id", "a b"), 200, `{"name":"a"}`, false},
		"no nosniff":             {unset("X-Content-Type-Options"), 400, `{"error":422,"message":"no"}`, false},
		"sniff":                  {set("X-Content-Type-Options", "sniff"), 400, `{"error":422,"message":"no"}`, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := tt.body + "\n"
			response := responseOf(tt.status, text)
			if tt.doctor != nil {
				tt.doctor(response)
			}
			if err := c.Check(response); (err == nil) != tt.good {
				t.Errorf("Check: %v, want good %v", err, tt.good)
			}
			if body, _ := io.ReadAll(response.Body); string(body) != text {
				t.Errorf("the body is now %q", body)
			}
		})
	}
}

func TestCheckSeesMissingNewline(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{"{\"name\":\"a\"}\n": true, `{"name":"a"}`: false} {
		if err := newChecker(t).Check(responseOf(200, text)); (err == nil) != good {
			t.Errorf("Check of %q: %v, want good %v", text, err, good)
		}
	}
}

func responseOf(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status,
		Body:       io.NopCloser(strings.NewReader(body)),
		Header: http.Header{
			"Content-Type":           {"application/json"},
			"X-Request-Id":           {"a-1"},
			"X-Content-Type-Options": {"nosniff"},
		},
	}
}

func set(name, value string) func(*http.Response) {
	return func(response *http.Response) { response.Header.Set(name, value) }
}

func unset(name string) func(*http.Response) {
	return func(response *http.Response) { response.Header.Del(name) }
}

func TestRecorderReports(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no such plant", http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	var reported []string
	client := &http.Client{Transport: &oas.Recorder{
		Checker: newChecker(t), Base: server.Client().Transport,
		Report: func(r *http.Request, _ error) { reported = append(reported, r.Method) },
	}}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	if len(reported) != 1 || reported[0] != http.MethodGet {
		t.Errorf("reported %q, want the GET only", reported)
	}
}

func TestNewJudgeRefusesWhatIsNoDescription(t *testing.T) {
	t.Parallel()
	for _, description := range []string{"", "openapi: 3.1.0", "openapi: 3.1.0\ninfo: {title: a}\npaths: {}"} {
		if _, err := oas.NewChecker([]byte(description)); err == nil {
			t.Errorf("%q: no error", description)
		}
	}
}
