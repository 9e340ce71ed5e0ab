package browser

import (
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

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

// TestFoldedParts checks that the parts outside the usual views are accessible, too: the menu,
// the search, and sections that are folded initially.
func TestFoldedParts(t *testing.T) { //nolint:paralleltest // see TestLooks
	tb := openDocs(t, plantstore.Start(t, plantstore.Options{}).BaseURL, phone("light"))
	tb.showOperation()
	evaluate[bool](tb, `document.querySelectorAll('.parameter-item-trigger').forEach(e => e.click()), true`)
	tb.awaitTrue(`document.querySelectorAll('.parameter-item-trigger[aria-expanded="true"]').length > 1`)
	tb.look("phone-light 4 unfolded")
	tb.press("Open Menu")
	tb.await("Introduction")
	tb.look("phone-light 5 menu")
	tb.press("Open Search")
	tb.awaitTrue(`!!document.querySelector('input[role="combobox"]')`)
	tb.look("phone-light 6 search")
}
