package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/internal/must"
)

// A faulty server, a case for which it deviates, and part of the reported reason.
type faulty struct {
	fault func(*http.Request, *reply)
	c     Case
	want  string
}

func faultyServers() map[string]faulty {
	create, refused := one("C1.2", "create", good(), fern()), one("C1.5", "refused", post(`{}`), invalid("id", "name"))
	twice := create.then(good(), fails(409).labelled("identical")).then(post(`{"id":{{id}},"name":"moss"}`), fails(409).labelled("different"))
	set := func(name, value string) func(*http.Request, *reply) {
		return func(_ *http.Request, a *reply) { a.header[name] = value }
	}
	drop := func(name string) func(*http.Request, *reply) {
		return func(_ *http.Request, a *reply) { delete(a.header, name) }
	}
	edit := func(old, with string) func(*http.Request, *reply) {
		return func(_ *http.Request, a *reply) { a.body = strings.Replace(a.body, old, with, 1) }
	}
	another := func(code int, message string) func(*http.Request, *reply) {
		return func(_ *http.Request, a *reply) {
			a.status, a.body = 400, fmt.Sprintf(`{"error":%d,"message":%q}`, code, message)
		}
	}
	accept := func(_ *http.Request, a *reply) { a.status, a.body = 200, `{"name":"fern"}` }
	beyond := int64(4_220_000_000) // int32
	return map[string]faulty{
		"status 201":             {func(_ *http.Request, a *reply) { a.status = 201 }, create, "a Plant has status 200"},
		"status 422":             {func(_ *http.Request, a *reply) { a.status = 422 }, refused, "an Error has status 400"},
		"no newline":             {func(_ *http.Request, a *reply) { a.end = "" }, create, "a newline ends a Plant"},
		"no Allow":               {another(405, "send POST"), one("C1.6", "", good(), fails(405)), "Allow is there with error 405"},
		"no Retry-After":         {another(429, "wait"), one("C1.6", "", good(), fails(429)), "Retry-After is there with the errors 429"},
		"no Retry-After of 503":  {another(503, "wait"), one("C1.6", "", good(), fails(503)), "Retry-After is there with the errors 429"},
		"no content type":        {set("Content-Type", "text/plain"), create, "Content-Type"},
		"content type with set":  {set("Content-Type", "application/json; charset=utf-8"), create, "Content-Type"},
		"no request id":          {drop("X-Request-Id"), create, "X-Request-Id is there once"},
		"an odd request id":      {set("X-Request-Id", "a{b"), create, "X-Request-Id is there once"},
		"one request id":         {set("X-Request-Id", "same"), twice, "no two responses have the same X-Request-Id"},
		"sniffing":               {drop("X-Content-Type-Options"), create, "X-Content-Type-Options is nosniff"},
		"names the software":     {set("Server", "tiny/1"), create, "neither Server nor X-Powered-By"},
		"Allow out of place":     {set("Allow", "POST"), refused, "Allow is there with error 405"},
		"challenge out of place": {set("WWW-Authenticate", "Bearer"), refused, "WWW-Authenticate: Bearer is there"},
		"no challenge": {
			drop("WWW-Authenticate"), one("C1.6", "", good().without("Authorization"), fails(401)), "WWW-Authenticate: Bearer is there",
		},
		"challenge with error": {
			set("WWW-Authenticate", `Bearer error="invalid_token"`), one("C1.6", "", good().without("Authorization"), noCredential()), "WWW-Authenticate has an error attribute if",
		},
		"challenge without error": {nil, one("C1.6", "", good().replace("Authorization: Bearer bad"), badToken()), "WWW-Authenticate has an error attribute if"},
		"id echoed":               {edit(`{"name"`, `{"id":1,"name"`), create, "a Plant has no field but name"},
		"tag invented":            {edit(`}`, `,"tag":null}`), create, "a Plant has no field but name"},
		"another name":            {edit("fern", "Fern"), create, "name is"},
		"a duplicate":             {edit(`}`, `,"name":"fern"}`), create, "not a JSON object"},
		"no JSON":                 {edit(`}`, ``), create, "not a JSON object"},
		"not an Error": {
			func(_ *http.Request, a *reply) {
				a.header["Content-Type"], a.body, a.end = "text/plain", "bad request", ""
			}, refused, "the body is not an Error",
		},
		"two values":                    {edit(`}`, `}{}`), create, "not a JSON object"},
		"another error":                 {edit("422", "400"), refused, "error 400, want 422"},
		"error a string":                {edit("422", `"422"`), refused, "not an Error"},
		"error a fraction":              {edit("422", "422.5"), refused, "an Error has exactly"},
		"error beyond int32":            {edit("422", "4220000000"), one("", "", post(`{}`), fails(int(beyond))), "an Error has exactly"},
		"a third field":                 {edit(`}`, `,"details":[]}`), refused, "an Error has exactly"},
		"an empty message":              {another(422, ""), one("", "", post(`{}`), fails(422)), "an Error has exactly"},
		"fields in capitals":            {edit(`"message"`, `"Message"`), one("", "", post(`{}`), fails(422)), "an Error has exactly"},
		"a field not named":             {edit("name: is required", "more"), refused, "does not name name"},
		"a field too many":              {edit("id:", "tag and id:"), refused, "names tag"},
		"inside knowledge":              {edit("id:", "models.NewPlant id:"), refused, "implementation details"},
		"a library's words":             {edit("id:", "json: cannot unmarshal; id:"), refused, "implementation details"},
		"a credential":                  {edit("id:", "for "+goodToken+": id:"), refused, "no message contains the token"},
		"refused, but it was good":      {another(500, "no"), create, "error 500, want 200"},
		"accepted, but it was bad":      {accept, refused, "200, want error 422"},
		"identical and different alike": {edit("a different", "an identical"), twice, "for both"},
		"two winners":                   {accept, racing("", 4, good(), fern()), "4 of 4 racing creates got 200"},
		"no winner":                     {another(409, "no"), racing("", 4, good(), fern()), "0 of 4 racing creates got 200"},
		"closes":                        {set("Connection", "close"), create.kept(), "not kept"},
		"keeps":                         {nil, create.last(func(t *Exchange) { t.After = AfterClosed }), "still open"},
		"panics":                        {func(*http.Request, *reply) { panic(http.ErrAbortHandler) }, create, "closed without a response"},
		"invites a body it will refuse": {nil, one("", "", good().with("Expect: 100-continue"), fern().uninvited()), "100 Continue came"},
		"a header that is not there":    {nil, one("", "", good(), fern().header("Location", "~/x")), `Location is "", want Location with /x`},
		"a lower limit":                 {another(413, "too large"), create, "want 200; give the limit of the server with --max-body-bytes"},
		"a used store":                  {another(409, "taken"), one("", "", good(), fern().mayBeTaken()), "want 200; --fresh is for an empty store"},
		"a piece that is not there":     {nil, one("", "", good(), fern().raw("moss")), "lacks"},
		"cut short, and stored":         {nil, create.then(good(), fern()), "error 409, want 200"},
	}
}

func TestRunFindsDeviations(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	found := map[string]bool{}
	for name, test := range faultyServers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := serveTiny(t, test.fault)
			o.FreshStore = true
			if name == "keeps" {
				o.Timeout = 5 * time.Second // a busy machine needs time to connect
			}
			r := must.Get(newRunner(o))(t)
			failed := slices.DeleteFunc(r.runAll(t.Context(), append(everyCases(), test.c)), func(r Result) bool { return r.Outcome != Failed })
			if len(failed) != 1 || !strings.Contains(failed[0].Name+failed[0].Reason, test.want) {
				t.Fatalf("%+v, want one failure with %q", failed, test.want)
			}
			got := failed[0]
			if len(got.Sent) == 0 || len(got.Wanted) == 0 || strings.Contains(fmt.Sprintf("%+v", got), goodToken) {
				t.Errorf("the result does not show the request, without credentials, and the expectation: %+v", got)
			}
			mu.Lock()
			defer mu.Unlock()
			found[got.Name] = true
		})
	}
	t.Cleanup(func() {
		for _, c := range everyCases() {
			if !found[c.Name] {
				t.Errorf("%s %s: no faulty server fails it", c.Rule, c.Name)
			}
		}
	})
}

// TestWait checks that a run waits for a server that closes connections, or responds with the error of a
// proxy or its own error 503, as long as it is starting.
func TestWait(t *testing.T) {
	t.Parallel()
	var probes atomic.Int64
	o := serveTiny(t, func(_ *http.Request, a *reply) {
		switch probes.Add(1) {
		case 1, 2:
			panic(http.ErrAbortHandler)
		case 3:
			a.status, a.body = http.StatusBadGateway, "<h1>Bad Gateway</h1>"
		case 4:
			a.status, a.body = http.StatusBadRequest, `{"error":503,"message":"starting"}`
		}
	})
	create := []Case{one("C1.2", "create", good(), fern())}
	if _, err := run(t.Context(), o, create); err == nil || !strings.Contains(err.Error(), "does not respond") {
		t.Errorf("without waiting: %v", err)
	}
	o.Wait = patient
	report, err := run(t.Context(), o, create)
	if err != nil || report.Deviations() > 0 || probes.Load() != 6 {
		t.Errorf("%v, %+v after %d requests", err, report, probes.Load())
	}
}
