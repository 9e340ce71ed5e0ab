package app

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"

	"plantstore/internal/apidocs"
	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/internal/printable"
)

// logFormat returns the format of the log: text for people, in color on a terminal unless
// NO_COLOR is set, or JSON for programs.
func logFormat(stderr io.Writer, c *config.Config, environ map[string]string) logging.Format {
	terminal := printable.IsTerminal(stderr)
	switch {
	case c.LogFormat == "json", c.LogFormat == "" && !terminal:
		return logging.JSON
	case terminal && environ["NO_COLOR"] == "" && environ["TERM"] != "dumb" && runtime.GOOS != "windows":
		return logging.Color
	}
	return logging.Text
}

// banner writes the addresses and files of the server: as a few lines for people, or as one
// record for programs. It does so at every log level, since programs wait for the record.
func (a *App) banner() {
	c, o, base, l := a.config, a.options, a.BaseURL(), a.listeners
	described, metrics, adminURL := base+"/openapi.yaml", "", l.adminURL()
	stored := a.store.Stats().File
	if adminURL != "" {
		metrics = adminURL + "/metrics"
	}
	if a.format == logging.JSON {
		docs := ""
		if c.Docs {
			docs = base + apidocs.PagePath
		}
		attrs := []any{
			"base_url", base, "description_url", described,
			"docs_url", docs, "admin_url", adminURL, "data", DataPlace(c), "audit_log", c.AuditLog, "token_command", o.TokenCommand,
			"reset_command", o.ResetCommand, "addr", strings.Join(l.addresses(), ", "),
		}
		if stored != nil {
			attrs = append(attrs, "plants", stored.Plants)
		}
		slog.New(slog.NewJSONHandler(a.buffer, nil)).Info("ready", attrs...)
		return
	}
	w := printable.NewWriter(a.buffer)
	place := DataPlace(c)
	if stored != nil { // shows that a misspelt path was created
		place += fmt.Sprintf(" (%d stored)", stored.Plants)
	}
	audited := ""
	if c.AuditLog != "" {
		audited = "  audit log    " + c.AuditLog + "\n"
	}
	fmt.Fprintf(w, "The plant store is ready.\n"+
		"  base URL     %s\n  try it       %s\n  description  %s\n  metrics      %s\n  plants       %s\n%s  get a token  %s\n",
		base, a.docsLink(), described, cmp.Or(metrics, "("+l.noAdmin+")"), place, audited, o.TokenCommand)
	if o.ResetCommand != "" {
		fmt.Fprintf(w, "  reset it     %s\n", o.ResetCommand)
	}
	if c.Faults.On {
		fmt.Fprint(w, "  faults       on demand (Prefer: code=503), and as FAULTS says\n")
	}
	if _, socket := config.UnixPath(l.address()); socket || len(l.clients) > 1 {
		fmt.Fprintf(w, "  listens on   %s\n", strings.Join(l.addresses(), ", "))
	}
}

// DataPlace returns the location of the plants, without a password that a URL may contain.
func DataPlace(c *config.Config) string {
	if c.Storage.Path != "" {
		return c.Storage.Path
	}
	return c.Storage.Scheme
}
