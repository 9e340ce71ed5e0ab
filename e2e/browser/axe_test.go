package browser

import "plantstore/e2e/internal/tools"

// checkAccessible checks what the tab shows by all rules of axe-core.
func (tb *tab) checkAccessible(name string) {
	tb.t.Helper()
	evaluate[bool](tb, string(tools.NodeFile(tb.t, "axe-core/axe.min.js"))+"; true")
	for _, violation := range evaluate[[]string](tb, `axe.run().then(result => result.violations.map(
		v => v.id + ': ' + v.help + ': ' + v.nodes.map(node => node.target.join(' ')).join(', ')))`) {
		tb.t.Errorf("%s: %s", name, violation)
	}
}
