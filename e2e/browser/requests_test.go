package browser

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

// startRequests starts an ephemeral server, and shows its requests in a tab.
func startRequests(t *testing.T, v view) (*plantstore.Server, *tab) {
	t.Helper()
	server := plantstore.Start(t, plantstore.Options{Args: []string{"--ephemeral"}})
	tb := newTab(t, v)
	tb.do(chromedp.Navigate(plantstore.Browse(t, server.Dir).Link))
	tb.await("temporary plants, read from the running server")
	evaluate[bool](tb, `document.querySelector('a[href="#requests"]').click() ?? true`)
	tb.await("No requests yet.")
	return server, tb
}

// TestRefusedRequestAppears checks that a refused request is shown without a reload, with the property
// that is wrong.
func TestRefusedRequestAppears(t *testing.T) {
	server, tb := startRequests(t, desktop())
	sent := time.Now()
	server.Post(server.Token(), `{"id":"9007199254740993","name":"Monstera"}`)
	tb.await("id: must be an integer, not a string")
	t.Logf("it is shown after %v, with the time to issue a token", time.Since(sent))
	evaluate[bool](tb, `document.querySelector('#received button').click() ?? true`)
	if got := evaluate[string](tb, `document.querySelector('mark').innerText`); got != `>   "id": "9007199254740993",` {
		t.Errorf("marked is %q", got)
	}
	server.Post(server.Token(), `{"id":7,"name":"Aloe"}`)
	tb.await("id 7")
	if n := tb.number("#received > li"); n != 2 {
		t.Errorf("%d requests are shown", n)
	}
	tb.do(chromedp.Focus(chromedp.CSS("#errors")), chromedp.KeyEvent(" "))
	tb.awaitTrue(`document.querySelector('#received > li').hidden`)
	tb.paste("#text", "aloe")
	tb.await("No request matches.")
	if problems := tb.found(); len(problems) > 0 {
		t.Errorf("the browser reports %q", problems)
	}
	server.Stop()
	tb.await("no server runs on data/plants.db")
}

// TestCopiedCommand checks that the copied command gets the same response as the request, whatever
// the client has sent, and that nothing in it runs or acts on the terminal.
func TestCopiedCommand(t *testing.T) {
	server, tb := startRequests(t, desktop())
	token := server.Token()
	const id, media, trick = `{"id":"`, "application/json", "$(touch${IFS}run)`touch${IFS}run`"
	for i, sent := range []struct{ method, target, body, media, credential string }{
		{"POST", "/plants", id + `it's ` + trick + ` \\ \" Käfer"}`, media, "Bearer " + token},
		{"POST", "/plants", id + "\n\t\x1b[201~\u202e\u0085'\\\n\"" + trick, media, "Bearer " + token},
		{"POST", "/plants", "@/etc/passwd", media, "Bearer " + token},
		{"POST", "/plants", `{"id":1}`, "text/plain", "Bearer " + token},
		{"POST", "/plants", `{"id":1}`, "", "Bearer " + token},
		{"POST", "/plants", id + strings.Repeat("x", 1<<20) + `"}`, media, "Bearer " + token},
		{"PUT", "/plants", "", "", trick + " " + token},
		{"POST", "/plants", "", media, trick + "' " + token},
		{"GET", "/a%20b/../{x,y}[1-2]?q='" + trick, "", "", ""},
	} {
		request, err := http.NewRequestWithContext(t.Context(), sent.method, server.BaseURL, strings.NewReader(sent.body))
		if err != nil {
			t.Fatal(err)
		}
		request.URL.Opaque = sent.target
		request.Header = http.Header{"Authorization": {sent.credential}, "Content-Type": {sent.media}, "X-Empty": {""}}
		for name, values := range request.Header {
			if values[0] == "" && name != "X-Empty" {
				request.Header.Del(name)
			}
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := plantstore.Read(response)
		if err != nil {
			t.Fatal(err)
		}
		command := tb.copyCommand(2*i + 1)
		bash := exec.CommandContext(t.Context(), tools.Require(t, "bash"), "-c", command)
		bash.Dir, bash.Env = t.TempDir(), append(os.Environ(), "TOKEN="+token)
		out, err := bash.CombinedOutput()
		if err != nil || string(out) != reply.Body || reply.Code == 0 {
			t.Errorf("%s %s: %v %s, want %s\n%.1000s", sent.method, sent.target, err, out, reply.Body, command)
		}
		if strings.ContainsAny(command, "\x1b\n\t\u202e\u0085") || strings.Contains(command, token) {
			t.Errorf("the command is %.1000q", command)
		}
		if files, err := os.ReadDir(bash.Dir); err != nil || len(files) > 0 {
			t.Errorf("the command has run another one: %v %v\n%.1000s", files, err, command)
		}
	}
}

// copyCommand returns the command that is copied for the request with that number, when it is shown.
func (tb *tab) copyCommand(number int) string {
	tb.t.Helper()
	row := fmt.Sprintf(`document.querySelector('#received > li[data-number="%d"]')`, number)
	tb.awaitTrue(row + " !== null")
	evaluate[bool](tb, "navigator.clipboard.writeText = async text => { window.copied = text }, window.copied = '', "+row+".querySelector('button').click() ?? true")
	tb.press("Copy as curl")
	tb.awaitTrue("window.copied !== ''")
	evaluate[bool](tb, row+".querySelector('button').click() ?? true")
	return evaluate[string](tb, "window.copied")
}

// TestRequestsLook checks that the view fits its window in each scheme, with 200 requests and none.
func TestRequestsLook(t *testing.T) {
	for _, v := range views() {
		t.Run(v.name, func(t *testing.T) {
			server, tb := startRequests(t, v)
			tb.look("requests " + v.name + " 1 none")
			token := server.Token("--subject", "alice")
			for i := range 200 {
				switch i % 8 {
				case 3:
					server.Post(token, fmt.Sprintf(`{"id":%d,"title":"%s","tag":null}`, i, kinds()[i%7]))
				case 5:
					server.Get(server.BaseURL + "/plants/" + strings.Repeat("long-", i%20))
				case 6:
					server.Post(token, `{"id":`+strings.Repeat("9", 300)+`,"name":"`+strings.Repeat("a long name ", 30)+`"}`)
				default:
					server.Post(token, fmt.Sprintf(`{"id":%d,"name":"%s"}`, 9_007_199_254_740_992+i, kinds()[i%8]))
				}
			}
			tb.awaitTrue(`document.querySelectorAll('#received > li').length === 200`)
			tb.look("requests " + v.name + " 2 many")
			evaluate[bool](tb, `document.querySelector('#received > li.failed:nth-of-type(n+3) > button').click() ?? true`)
			evaluate[bool](tb, `document.querySelector('li[data-number="196"] > button').click() ?? true`)
			tb.look("requests " + v.name + " 3 open")
			if problems := tb.found(); len(problems) > 0 {
				t.Errorf("the browser reports %q", problems)
			}
		})
	}
}
