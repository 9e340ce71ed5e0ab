package browser

import (
	"io"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/terminal"
	"plantstore/e2e/internal/tools"
)

// TestLink checks the way from the terminal to two plants: the link that serve prints opens the
// dialog, in which Send is enough. The token is in no request line and, once the page has
// loaded, not in the address bar.
func TestLink(t *testing.T) {
	session := terminal.Start(t, plantstore.Command(t, t.TempDir(), []string{"ADDR=127.0.0.1:0"},
		"serve", "--ephemeral", "--seed", tools.Project(t)+"/docs/samples/plants.jsonl"))
	link := session.Await(t, "/docs")
	go func() { _, _ = io.Copy(io.Discard, session.Master) }() // the server continues to write its log
	base, token, _ := strings.Cut(link, "/docs#token=")
	tb := newTab(t, phone())
	tb.do(chromedp.Navigate(link))
	tb.awaitTrue(inDialog("[data-language=json]"))
	tb.look("link")
	tb.checkDialog()
	tb.createTwo()
	if address := evaluate[string](tb, "location.href"); strings.Contains(address, "token") || !strings.HasPrefix(address, base+"/docs") {
		t.Errorf("the address bar shows %s", address)
	}
	tb.mu.Lock()
	for _, url := range tb.urls {
		if strings.Contains(strings.TrimSuffix(url, "/docs#token="+token), token) {
			t.Errorf("the token is in %s", url)
		}
	}
	tb.mu.Unlock()
	tb.do(chromedp.Reload())
	tb.awaitTrue(tokenIs(token))
	tb.do( // follow the link, in the address bar of an open page
		chromedp.Navigate(link),
		chromedp.WaitVisible(chromedp.CSS(`[role="dialog"] [data-language=json]`)),
	)
}
