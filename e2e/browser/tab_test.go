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
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// patience bounds every wait; it is far above the usual duration.
const patience = time.Minute

// A view is a window size and a colour scheme.
type view struct {
	name          string
	width, height int64
	scheme        string // light or dark
}

func desktop() view { return view{"desktop-light", 1280, 900, "light"} }

// views are the tested views.
func views() []view {
	return []view{
		desktop(),
		{"desktop-dark", 1280, 900, "dark"},
		phone("light"),
		phone("dark"),
	}
}

// phone is a small view.
func phone(scheme string) view { return view{"phone-" + scheme, 360, 740, scheme} }

// A tab is a separate browser, with an empty cache, that shows one page.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string // problems that the browser has reported
	urls     []string // URLs that were requested
	bodies   []string // bodies that were sent
	received float64  // transferred bytes, with headers
}

// newTab starts a browser that shows an empty page.
func newTab(t *testing.T, v view) *tab {
	t.Helper()
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(tools.Require(t, "chromium", "google-chrome", "chromium-browser")),
		chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
	}
	for _, flag := range []string{
		"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	tb := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		closing, stop := context.WithTimeout(ctx, patience)
		defer stop()
		if err := chromedp.Cancel(closing); err != nil {
			t.Errorf("closing the browser: %v", err)
		}
		cancel()
		cancelAllocator()
	})
	must.Do(t, chromedp.Listen(ctx, tb.hear))
	tb.do(chromedp.EmulateViewport(v.width, v.height))
	scheme := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}}}
	must.Get(chromedp.Call(ctx, emulation.SetEmulatedMedia, scheme))(t)
	return tb
}

// stranger returns a tab of the same browser, without its storage, that shows the page at url.
func (tb *tab) stranger(url string) *tab {
	tb.t.Helper()
	ctx, cancel := chromedp.NewContext(tb.ctx, chromedp.WithNewBrowserContext())
	tb.t.Cleanup(cancel)
	other := &tab{t: tb.t, ctx: ctx}
	other.do(chromedp.Navigate(url))
	return other
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
	if err := chromedp.Do(tb.ctx); err != nil { // the browser outlives the time limit
		tb.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		tb.save("failed")
		tb.t.Fatalf("%v\nthe browser reports %q", err, tb.found())
	}
}

// await waits until the page shows text.
func (tb *tab) await(text string) {
	tb.t.Helper()
	tb.do(ignoring(chromedp.PollFunction[bool](`text => document.body.innerText.includes(text)`,
		chromedp.WithPollingArgs(text), chromedp.WithPollingTimeout(patience))))
}

// awaitTrue waits until an expression is true.
func (tb *tab) awaitTrue(expression string) {
	tb.t.Helper()
	tb.do(ignoring(chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(patience))))
}

// ignoring is an action whose result does not matter.
func ignoring[T any](action chromedp.Action[T]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := action(ctx, target)
		return err
	})
}

// press clicks the visible button or choice with text that begins with that text, as soon as it
// exists.
func (tb *tab) press(text string) {
	tb.t.Helper()
	tb.do(ignoring(chromedp.PollFunction[bool](`text => {
		const seen = [...document.querySelectorAll('button, li')].find(
			e => e.innerText.trim().startsWith(text) && e.getClientRects().length)
		seen?.click()
		return !!seen
	}`, chromedp.WithPollingArgs(text), chromedp.WithPollingTimeout(patience))))
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

// look takes a picture, and checks that nothing is wider than the window, and that the page is
// accessible.
func (tb *tab) look(name string) {
	tb.t.Helper()
	tb.checkAccessible(name) // checkAccessible waits for the end of animations
	tb.save(name)
	if over := evaluate[int](tb, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		tb.t.Errorf("%s: the page is %d pixels too wide", name, over)
	}
}

// checkAccessible checks the visible page by all rules of axe-core. It waits for the end of
// animations: text that fades in has little contrast.
func (tb *tab) checkAccessible(name string) {
	tb.t.Helper()
	evaluate[bool](tb, string(tools.NodeFile(tb.t, "axe-core/axe.min.js"))+"; true")
	for _, violation := range evaluate[[]string](tb, `Promise.allSettled(
		document.getAnimations().filter(a => a.effect.getComputedTiming().endTime < Infinity).map(a => a.finished),
	).then(() => axe.run()).then(result => result.violations.map(
		v => v.id + ': ' + v.help + ': ' + v.nodes.map(node => node.target.join(' ')).join(', ')))`) {
		tb.t.Errorf("%s: %s", name, violation)
	}
}
