package browser

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// openRequests shows the requests of an ephemeral server, which has received none, in a tab.
func openRequests(t *testing.T, server *plantstore.Server, v view) *tab {
	t.Helper()
	tb := newTab(t, v)
	tb.do(chromedp.Navigate(plantstore.Browse(t, server.Dir).Link))
	tb.await("read from the running server")
	tb.click(`a[href="#requests"]`)
	tb.await("Waiting for the first request to " + server.BaseURL)
	return tb
}

// TestCopiedCommand checks that the copied command gets the same response as the request, whatever
// the client has sent, and that nothing in it runs or acts on the terminal.
func TestCopiedCommand(t *testing.T) {
	server := plantstore.Start(t, plantstore.Options{Args: []string{"--ephemeral"}})
	tb := openRequests(t, server, desktop())
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
		request := must.Get(http.NewRequestWithContext(t.Context(), sent.method, server.BaseURL, strings.NewReader(sent.body)))(t)
		request.URL.Opaque = sent.target
		request.Header = http.Header{"Authorization": {sent.credential}, "Content-Type": {sent.media}, "X-Empty": {""}}
		for name, values := range request.Header {
			if values[0] == "" && name != "X-Empty" {
				request.Header.Del(name)
			}
		}
		response := must.Get(http.DefaultClient.Do(request))(t)
		reply := must.Get(plantstore.Read(response))(t)
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
	button := fmt.Sprintf(`#received > li[data-number="%d"] button`, number)
	evaluate[string](tb, "navigator.clipboard.writeText = async text => { window.copied = text }, window.copied = ''")
	tb.click(button)
	tb.press("Copy as curl")
	tb.awaitTrue("window.copied !== ''")
	tb.click(button)
	return evaluate[string](tb, "window.copied")
}

// TestRequests checks that a refused request is shown without a reload, with the property that is wrong,
// and that the view fits its window, with 200 requests and none; and that a view that was paused while the server
// was restarted shows the requests to the new server.
func TestRequests(t *testing.T) {
	server := plantstore.Start(t, plantstore.Options{Args: []string{"--ephemeral"}})
	tabs := map[string]*tab{}
	for _, v := range []view{desktop(), phone()} {
		tabs[v.name] = openRequests(t, server, v)
		tabs[v.name].look("requests " + v.name + " 1 none")
	}
	token, tb := server.Token("--subject", "alice"), tabs[desktop().name]
	server.Post(token, `{"id":"9007199254740993","name":"Monstera"}`)
	tb.await("id: must be an integer, not a string")
	tb.click("#received button")
	if got := evaluate[string](tb, `document.querySelector('mark').innerText`); got != `>   "id": "9007199254740993",` {
		t.Errorf("marked is %q", got)
	}
	server.Post(token, `{"id":7,"name":"Aloe"}`)
	tb.await("id 7")
	if n := tb.number("#received > li"); n != 2 {
		t.Errorf("%d requests are shown", n)
	}
	tb.do(chromedp.Focus(chromedp.CSS("#errors")), chromedp.KeyEvent(" "))
	tb.awaitTrue(`document.querySelector('#received > li').hidden`)
	tb.paste("#text", "aloe")
	tb.await("No request matches.")
	tb.click("#errors")
	for text, hidden := range map[string]int{"error 422": 1, "remote": 2, `"name": "monstera"`: 1} {
		tb.paste("#text", text)
		tb.poll(`n => document.querySelectorAll('#received > li[hidden]').length === n`, hidden)
	}
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
	tb.do(chromedp.Reload()) // without the filters
	for name, tb := range tabs {
		tb.awaitTrue(`document.querySelectorAll('#received > li:not([hidden])').length === 200`)
		tb.look("requests " + name + " 2 many")
		tb.click("#received > li.failed:nth-of-type(n+3) > button")
		tb.click(`li[data-number="198"] > button`)
		tb.look("requests " + name + " 3 open")
		tb.checkQuiet()
	}
	must.Get(plantstore.Do(t.Context(), http.DefaultClient, http.MethodDelete, server.AdminURL+"/requests", ""))(t)
	for _, tb := range tabs {
		tb.await("Waiting for the first request to")
	}
	tb.click("#live")
	server.Stop()
	tb.await("plantstore serve creates it")
	server = plantstore.Start(t, plantstore.Options{Dir: server.Dir, Args: []string{"--ephemeral"}})
	server.Post(server.Token("--subject", "bob"), `{"id":7,"name":"After the restart"}`)
	tb.click("#live")
	tb.awaitTrue(`document.querySelectorAll('#received > li').length === 1`)
	tb.await("bob")
}
