package admin

import (
	"fmt"
	"strings"
)

// MarkdownTable returns the table of metrics in docs/watch.md.
func MarkdownTable(options Options) string {
	var b strings.Builder
	b.WriteString("| Metric | Type | Meaning |\n|---|---|---|\n")
	for _, m := range table(&admin{Options: options}) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", prefix+m.name, m.kind, m.help)
	}
	return b.String()
}
