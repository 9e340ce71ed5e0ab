package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// patience bounds every wait; it is far above the usual duration.
const patience = time.Minute

// A view is a window size.
type view struct {
	name          string
	width, height int64
}

func desktop() view { return view{"desktop", 1280, 900} }

func phone() view { return view{"phone", 360, 740} }

// A tab shows one page, with its own storage and an empty cache.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // problems that the browser has reported
	urls     []string // URLs that were requested
	bodies   []string // bodies that were sent
	received float64  // transferred bytes, with headers
	asked    []string // questions of the page, which were denied
}

// newTab opens a tab with an empty page. Its last view is saved if the test fails.
func newTab(t *testing.T, v view) *tab {
	t.Helper()
	tools.Require(t, "chromium", "google-chrome", "chromium-browser")
	must.Do(t, chromedp.Do(browser))
	return openTab(browser, t, v, chromedp.WithNewBrowserContext())
}

// another opens a tab with the local storage of this one.
func (tb *tab) another() *tab {
	tb.t.Helper()
	return openTab(tb.ctx, tb.t, desktop())
}

func openTab(parent context.Context, t *testing.T, v view, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	tb := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		if t.Failed() {
			tb.save(t.Name())
			t.Logf("the browser reports %q", tb.found())
		}
		cancel()
	})
	must.Do(t, chromedp.Listen(ctx, tb.hear))
	tb.do(chromedp.EmulateViewport(v.width, v.height))
	return tb
}

// hear records events of the browser.
func (tb *tab) hear(event any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		tb.urls = append(tb.urls, e.Request.URL)
		for _, entry := range e.Request.PostDataEntries {
			tb.bodies = append(tb.bodies, string(entry.Bytes))
		}
	case *page.EventJavascriptDialogOpening:
		tb.asked = append(tb.asked, e.Message)
		go func() { // the browser sends no other events before
			_, _ = chromedp.Call(tb.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}()
	case *network.EventLoadingFinished:
		tb.received += e.EncodedDataLength
	case *runtime.EventExceptionThrown:
		tb.problems = append(tb.problems, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			tb.problems = append(tb.problems, "console: "+string(e.Type))
		}
	case *log.EventEntryAdded:
		tb.problems = append(tb.problems, e.Entry.Text)
	}
}

// do runs actions, which must all succeed.
func (tb *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	must.Do(tb.t, chromedp.Do(tb.ctx)) // the tab outlives the time limit
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	must.Do(tb.t, chromedp.Do(ctx, steps...))
}

// poll waits until a function of the page returns true for args.
func (tb *tab) poll(function string, args ...any) {
	tb.t.Helper()
	tb.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		// To poll at each frame would slow down the browser.
		_, err := chromedp.PollFunction[bool](function, chromedp.WithPollingArgs(args...),
			chromedp.WithPollingInterval(time.Second/20), chromedp.WithPollingTimeout(patience))(ctx, target)
		return err
	}))
}

// await waits until the page shows text.
func (tb *tab) await(text string) {
	tb.t.Helper()
	tb.poll(`text => document.body.innerText.includes(text)`, text)
}

// awaitTrue waits until an expression is true.
func (tb *tab) awaitTrue(expression string) {
	tb.t.Helper()
	tb.poll("() => " + expression)
}

// press clicks the visible button or choice with text that begins with that text, as soon as it
// exists and is enabled.
func (tb *tab) press(text string) {
	tb.t.Helper()
	tb.poll(`text => {
		const seen = [...document.querySelectorAll('button, li')].find(
			e => e.innerText.trim().startsWith(text) && e.getClientRects().length && !e.disabled)
		seen?.click()
		return !!seen
	}`, text)
}

// click clicks an element, as soon as it exists.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	tb.poll(`selector => {
		const found = document.querySelector(selector)
		found?.click()
		return !!found
	}`, selector)
}

// paste replaces the contents of a field.
func (tb *tab) paste(field chromedp.CSS, text string) {
	tb.t.Helper()
	tb.do(
		chromedp.Focus(field, chromedp.NodeVisible),
		chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)),
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, input.InsertText, input.InsertTextParams{Text: text})
			return err
		}),
	)
}

// evaluate returns the value of an expression, or of the promise that it returns.
func evaluate[T any](tb *tab, expression string) T {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// found returns the problems that the browser has reported so far.
func (tb *tab) found() []string {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return append([]string(nil), tb.problems...)
}

// checkQuiet checks that the browser has reported no problems.
func (tb *tab) checkQuiet() {
	tb.t.Helper()
	if problems := tb.found(); len(problems) > 0 {
		tb.t.Errorf("the browser reports %q", problems)
	}
}

// save writes a screenshot of the tab to the directory screenshots, for a person to look at.
func (tb *tab) save(name string) {
	tb.t.Helper()
	picture, err := chromedp.Run(tb.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		tb.t.Errorf("no picture of %s: %v", name, err)
		return
	}
	path := filepath.Join("screenshots", strings.NewReplacer("/", "-", " ", "-").Replace(name)+".png")
	must.Do(tb.t, os.MkdirAll("screenshots", 0o750))
	must.Do(tb.t, os.WriteFile(path, picture, 0o600))
}

// look takes a picture, and checks that nothing is wider than the window, and that the page is accessible by
// all rules of axe-core in both color schemes. Only the contrast depends on the scheme. Of long lists it sees
// the first rows: the others are alike.
func (tb *tab) look(name string) {
	tb.t.Helper()
	evaluate[bool](tb, "globalThis.axe ? true : "+"(() => {"+string(tools.NodeFile(tb.t, "axe-core/axe.min.js"))+"; return true})()")
	for _, scheme := range []string{"dark", "light"} {
		rules := map[string]string{"dark": "runOnly: ['color-contrast'], "}[scheme]
		emulated := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
		must.Get(chromedp.Call(tb.ctx, emulation.SetEmulatedMedia, emulated))(tb.t)
		// The page follows the scheme in the next frame. Text that fades in has little contrast.
		for _, violation := range evaluate[[]string](tb, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(
			() => Promise.allSettled(document.getAnimations().filter(a => a.effect.getComputedTiming().endTime < Infinity).map(a => a.finished)),
		).then(() => axe.run(
			{ exclude: [['tbody > tr:nth-of-type(n+16)'], ['#received > li:nth-of-type(n+16)']] },
			{ `+rules+`resultTypes: ['violations'] },
		)).then(result => result.violations.map(
			v => v.id + ': ' + v.help + ': ' + v.nodes.map(node => node.target.join(' ')).join(', ')))`) {
			tb.t.Errorf("%s, %s: %s", name, scheme, violation)
		}
	}
	tb.save(name)
	if over := evaluate[int](tb, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		tb.t.Errorf("%s: the page is %d pixels too wide", name, over)
	}
}
