package operate

import (
	"fmt"
	"strings"
)

// MarkdownTable returns the table of metrics in docs/watch.md.
func (o *Operator) MarkdownTable() string {
	var b strings.Builder
	b.WriteString("| Metric | Meaning |\n|---|---|\n")
	for _, m := range o.table() {
		if m.kind() == "histogram" {
			m.help += " (histogram)"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", prefix+m.name, m.help)
	}
	return b.String()
}
