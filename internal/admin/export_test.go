package admin

import (
	"fmt"
	"strings"
	"time"

	"plantstore/internal/server"
	"plantstore/storage"
)

// MarkdownTable returns the table of metrics in docs/operations.md.
func MarkdownTable() string {
	all := table(&sample{
		admin: &admin{Options: Options{
			Observer:           NewObserver(),
			CertificateExpires: func() time.Time { return time.Time{} },
		}},
		server: server.Stats{Refused: new(server.ErrorCounts)},
		store:  storage.Stats{File: &storage.FileStats{Journal: new(storage.JournalStats)}},
	})
	var b strings.Builder
	b.WriteString("| Metric | Type | Meaning |\n|---|---|---|\n")
	for _, m := range all {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", prefix+m.name, m.kind, m.help)
	}
	return b.String()
}
