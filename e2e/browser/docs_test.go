package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// mostBytes is the maximum number of bytes that the first view of the page may transfer.
const mostBytes = 1_400_000

// tokenField is the empty field for the token, which names the remedy.
const tokenField = `input[placeholder="get one with plantstore token --link"]`

// bodyEditor is the editor of the body in the dialog.
const bodyEditor = `[role="dialog"] [contenteditable="true"][data-language="json"]`

// openDocs shows the docs page of the server at base, and returns when the first view is complete.
func openDocs(t *testing.T, base string, v view) *tab {
	t.Helper()
	tb := newTab(t, v)
	tb.do(chromedp.Navigate(base + "/"))
	tb.awaitTrue(fmt.Sprintf(`document.querySelector('h1')?.innerText === 'OpenAPI Plant Store'
		&& document.querySelectorAll('.markdown tbody tr').length === %d
		&& !!document.querySelector('%s')
		&& document.body.innerText.includes('Create a plant')`, len(models.Codes()), tokenField))
	return tb
}

// TestLooks checks that in each view the page loads completely and only from the service, that no element is
// wider than the window, all is accessible, and nothing belongs to the viewer instead of the service.
func TestLooks(t *testing.T) {
	server := plantstore.Start(t, plantstore.Options{})
	token := server.Token()
	for _, v := range []view{desktop(), phone()} {
		t.Run(v.name, func(t *testing.T) {
			tb := openDocs(t, server.BaseURL, v)
			tb.checkFirstView(server.BaseURL)
			tb.look(v.name + " 1 start")
			tb.paste(tokenField, token)
			tb.showOperation()
			if !evaluate[bool](tb, fmt.Sprintf(`(() => {
				const [token, request, errors] = ['%s', '.show-api-client-button', '.markdown table'].map(
					selector => document.querySelector(selector).getBoundingClientRect().top)
				return token < request && request < errors
			})()`, tokenField)) {
				t.Error("the order is not token, request, errors") // the last are long on a phone
			}
			evaluate[bool](tb, `document.querySelectorAll('.parameter-item-trigger').forEach(e => e.click()), true`)
			tb.awaitTrue(`document.querySelectorAll('.parameter-item-trigger[aria-expanded="true"]').length > 1`)
			tb.look(v.name + " 2 operation")
			if v == phone() {
				tb.press("Open Menu")
				tb.await("Introduction")
				tb.look("phone 4 menu")
				tb.press("Open Search")
				tb.awaitTrue(`!!document.querySelector('input[role="combobox"]')`)
				tb.look("phone 5 search")
				tb.do(chromedp.KeyEvent(kb.Escape))
				tb.press("Close Menu")
			}
			tb.press("Test Request")
			tb.awaitTrue(inDialog("[data-language=json]"))
			tb.checkDialog()
			tb.press("Send")
			tb.await("Response Headers")
			tb.look(v.name + " 3 response")
			tb.checkFits()
			for text, wanted := range map[string]bool{
				"Authentication": true, "Headers": true, "Request Body": true,
				"Cookies": false, "Query Parameters": false, "Selected Auth Type": false, "Powered by": false,
			} {
				if visible := evaluate[bool](tb, fmt.Sprintf(`[...document.querySelectorAll('button, a, h1, h2, h3')].some(
					e => e.innerText.trim().startsWith(%q) && e.getClientRects().length)`, text)); visible != wanted {
					t.Errorf("%q is visible: %t", text, visible)
				}
			}
		})
	}
}

// checkFirstView checks that the page has loaded without messages on the browser's console, and without
// a request to any other server.
func (tb *tab) checkFirstView(base string) {
	tb.t.Helper()
	tb.checkQuiet()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if tb.received > mostBytes || tb.received < mostBytes/2 {
		tb.t.Errorf("the first view transferred %.0f bytes, want at most %d, and a plausible number", tb.received, mostBytes)
	}
	for _, requested := range tb.urls {
		if !strings.HasPrefix(requested, base+"/") && !strings.HasPrefix(requested, "data:") {
			tb.t.Errorf("the page requests %s", requested)
		}
	}
}

// showOperation scrolls to the operation, which is drawn only then.
func (tb *tab) showOperation() {
	tb.t.Helper()
	tb.poll(`() => {
		const last = [...document.querySelectorAll('h1, h2, h3')].filter(
			e => ['Plants', 'Create a plant'].includes(e.innerText.trim())).pop()
		last?.scrollIntoView()
		const button = document.querySelector('.show-api-client-button')
		button?.scrollIntoView({ block: 'center' })
		return !!button
	}`)
}

// inDialog returns an expression that is true if an element of the open dialog is completely
// visible, without scrolling.
func inDialog(selector string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('[role="dialog"] %s')].some(e => {
		const { left, top, right, bottom, width } = e.getBoundingClientRect()
		return width > 0 && left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
	})`, selector)
}

// checkDialog checks that the fields for a request are visible at once in the open dialog.
func (tb *tab) checkDialog() {
	tb.t.Helper()
	for _, selector := range []string{tokenField, `button[class*="scalar-button-solid"]`, `[data-language=json]`} {
		if !evaluate[bool](tb, inDialog(selector)) {
			tb.t.Errorf("%s is not visible in the dialog", selector)
		}
	}
}

// checkFits checks that the request line and the bar of each section fit the open dialog.
func (tb *tab) checkFits() {
	tb.t.Helper()
	for _, cut := range evaluate[[]string](tb, `[...document.querySelectorAll('[role="dialog"] .scroll-timeline-x, [role="dialog"] h2')].filter(
		e => e.scrollWidth > e.clientWidth || e.getBoundingClientRect().right > innerWidth).map(e => e.innerText)`) {
		tb.t.Errorf("%q does not fit the dialog", cut)
	}
	method := `document.querySelector('[role="dialog"] .scroll-timeline-x').previousElementSibling`
	if !evaluate[bool](tb, method+`.innerText === 'POST' && `+method+`.getClientRects().length > 0`) {
		tb.t.Error("the method is not in the request line")
	}
}

// TestCreateFromPage checks that the page, behind a proxy that removes a path prefix, sends the entered token
// and body, byte for byte, creates the plant, and shows an Error.
func TestCreateFromPage(t *testing.T) {
	server := plantstore.Start(t, plantstore.Options{})
	target := must.Get(url.Parse(server.BaseURL))(t)
	proxy := httptest.NewServer(http.StripPrefix("/shop", httputil.NewSingleHostReverseProxy(target)))
	defer proxy.Close()
	tb := openDocs(t, proxy.URL+"/shop", desktop())
	if got := evaluate[string](tb, "location.pathname"); got != "/shop/docs" {
		t.Errorf("the page is at %s", got)
	}
	tb.showOperation()
	tb.press("A plant and its type")
	tb.press("The greatest id")
	tb.press("Test Request")
	tb.press("Send")
	tb.await(`"error": 401`)

	token := server.Token()
	tb.paste(`[role="dialog"] `+tokenField, token)
	tb.press("Send")
	tb.await("200 OK")
	tb.sent("{\n  \"id\": 9223372036854775807,\n  \"name\": \"Sequoiadendron giganteum\",\n  \"tag\": \"tree\"\n}")
	tb.press("Send")
	tb.await("id: 9223372036854775807 is taken; the stored plant is identical to this one")

	const odd = "{ \"id\" : 9007199254740993,\t\"name\":\"\u684c\",  \"name2\":1.0 }  "
	tb.paste(bodyEditor, odd)
	tb.press("Send")
	tb.await("200 OK")
	tb.sent(odd)
	if r := server.Post(token, `{"id":9007199254740993,"name":"桌"}`); !r.Identical() {
		t.Errorf("a different plant was created: %s", r.Body)
	}
	tb.typeFast()
	tb.press("JSON")
	tb.press("None")
	tb.press("Send")
	tb.await(`"error": 415`)

	tb.do(chromedp.Reload())
	tb.awaitTrue(tokenIs(token))
	tb.showOperation()
	tb.press("Test Request")
	tb.press("Form")
	tb.createTwo()
	other := tb.another()
	other.do(chromedp.Navigate(proxy.URL + "/shop/docs"))
	other.awaitTrue(tokenIs(""))
}

// tokenIs returns an expression that is true if the page is there with that token.
func tokenIs(token string) string {
	return fmt.Sprintf(`document.querySelector('%s')?.value === %q`, tokenField, token)
}

// typeFast checks that a character that is deleted and at once typed again is sent.
func (tb *tab) typeFast() {
	tb.t.Helper()
	tb.paste(bodyEditor, `{"name": "fern", "id": 4711}`)
	tb.press("Send")
	tb.await(`"name": "fern"`)
	tb.await("200 OK")
	keys := []chromedp.Action[chromedp.Void]{chromedp.Focus(bodyEditor, chromedp.NodeVisible), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowLeft)}
	for _, key := range []string{kb.Backspace, "1", "2", kb.Backspace, kb.Backspace, "1"} {
		keys = append(keys, chromedp.KeyEvent(key))
	}
	tb.do(keys...)
	tb.press("Send")
	tb.await("id: 4711 is taken; the stored plant is identical to this one")
}

// createTwo checks that two times Send creates two plants: the form shows the id that was sent until the
// next Send, which would repeat it, draws another.
func (tb *tab) createTwo() {
	tb.t.Helper()
	const responses = `performance.getEntriesByType('resource').filter(e => e.name.endsWith('/plants')).map(e => e.responseStatus)`
	var ids []string
	for n := range 2 {
		tb.press("Send")
		tb.awaitTrue(fmt.Sprintf("%s.length > %d", responses, n))
		tb.await("200 OK")
		tb.mu.Lock()
		id := regexp.MustCompile(`"id":\s*(\d+)`).FindStringSubmatch(tb.bodies[len(tb.bodies)-1])[1]
		tb.mu.Unlock()
		ids = append(ids, id)
		if !evaluate[bool](tb, fmt.Sprintf(`[...document.querySelectorAll('[role="dialog"] [contenteditable="true"]')]
			.some(e => /(^|"id": )%s(,|$)/.test(e.innerText))`, id)) {
			tb.t.Errorf("the id %s, which was sent, is not visible", id)
		}
	}
	if got := evaluate[string](tb, responses+".join()"); got != "200,200" || ids[0] == ids[1] {
		tb.t.Errorf("the responses are %s for the ids %q, want 200 twice", got, ids)
	}
}

// sent checks that the last body that the page has sent is that text.
func (tb *tab) sent(want string) {
	tb.t.Helper()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if len(tb.bodies) == 0 || tb.bodies[len(tb.bodies)-1] != want {
		tb.t.Errorf("the last body sent is %q, want %q", tb.bodies, want)
	}
}

// TestLinkOfAnotherSubject checks that a link with a token replaces a stored one of the same subject, and that
// the page asks before it replaces that of another subject.
func TestLinkOfAnotherSubject(t *testing.T) {
	server := plantstore.Start(t, plantstore.Options{})
	alice, again, mallory := server.Token("--subject", "alice"), server.Token("--subject", "alice", "--ttl", "5h"), server.Token("--subject", "Mallory 植物")
	tb := newTab(t, desktop())
	for _, step := range []struct{ linked, stored string }{{alice, alice}, {again, again}, {mallory, again}} {
		tb.do(chromedp.Navigate("about:blank"), chromedp.Navigate(server.BaseURL+"/docs#token="+step.linked))
		tb.awaitTrue(tokenIs(step.stored))
	}
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if len(tb.asked) != 1 || !strings.Contains(tb.asked[0], `("Mallory 植物") instead of the one that is in use ("alice")`) {
		t.Errorf("the page asks %q", tb.asked)
	}
}
