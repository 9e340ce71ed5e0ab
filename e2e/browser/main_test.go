// Package browser tests the service from a browser: the docs page, plantstore plants browse, and
// pages of other origins.
package browser

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
)

// browser is the context of the one browser for all tests, which starts with the first tab.
var browser context.Context

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	options := []chromedp.ExecAllocatorOption{chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun}
	for _, flag := range []string{
		"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancelAllocator()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	browser = ctx //nolint:fatcontext // one for all tests
	code := plantstore.Main(m)
	if chromedp.FromContext(browser).Browser == nil { // all tests were skipped
		return code
	}
	closing, stop := context.WithTimeout(browser, patience)
	defer stop()
	if err := chromedp.Cancel(closing); err != nil {
		fmt.Fprintln(os.Stderr, "closing the browser:", err)
		return 1
	}
	return code
}
