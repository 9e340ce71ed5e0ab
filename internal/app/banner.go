package app

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"plantstore/internal/apidocs"
	"plantstore/internal/config"
	"plantstore/internal/keys"
	"plantstore/internal/logging"
	"plantstore/internal/loopback"
)

// logFormat returns the format of the log: text for people, in color on a terminal unless
// NO_COLOR is set, or JSON for programs.
func logFormat(stderr io.Writer, c *config.Config, environ map[string]string) logging.Format {
	terminal := logging.IsTerminal(stderr)
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
	c, base := a.config, a.BaseURL()
	described, stored, tokenCommand := base+"/openapi.yaml", a.store.Stats().File, a.tokenCommand()
	if a.format == logging.JSON {
		docs := ""
		if c.Docs {
			docs = base + apidocs.PagePath
		}
		attrs := []any{
			"base_url", base, "description_url", described,
			"docs_url", docs, "admin_url", a.adminURL(), "data", DataPlace(a.storage), "token_command", tokenCommand,
			"addr", a.address(),
		}
		if a.control != nil && a.seed != nil {
			attrs = append(attrs, "reset_command", a.inputs.Command("plants", "reset"), "requests_command", a.inputs.Command("requests"))
		}
		if stored != nil {
			attrs = append(attrs, "plants", stored.Plants)
		}
		slog.New(slog.NewJSONHandler(a.buffer, nil)).Info("ready", attrs...)
		return
	}
	w := logging.NewTerminalWriter(a.buffer)
	place := DataPlace(a.storage)
	if stored != nil { // shows that a misspelled path was created
		place += fmt.Sprintf(" (%d stored)", stored.Plants)
	}
	metrics := "(" + a.noAdmin + ")"
	if a.admin != nil {
		metrics = a.adminURL() + "/metrics"
	}
	fmt.Fprintf(w, "The plant store is ready. Ctrl-C stops it.\n  base URL     %s\n  description  %s\n  metrics      %s\n  plants       %s\n",
		base, described, metrics, place)
	if a.control != nil {
		fmt.Fprintf(w, "  browse them  %s\n", a.inputs.Command("plants", "browse"))
	}
	if a.control != nil && a.seed != nil {
		fmt.Fprintf(w, "  reset them   %s\n  requests     %s\n", a.inputs.Command("plants", "reset"), a.inputs.Command("requests"))
	}
	fmt.Fprintf(w, "  get a token  %s\n", cmp.Or(tokenCommand, "(use the link: the secret is only in memory)"))
	if c.Faults {
		fmt.Fprintln(w, "  errors       on demand (Prefer: code=503)")
	}
	if _, socket := config.UnixPath(a.address()); socket {
		fmt.Fprintf(w, "  listens on   %s\n", a.address())
	}
	_, _ = io.WriteString(a.buffer, a.docsLink()) // with the escape sequence of a link
}

// tokenCommand returns the command that gets a token, "" if no command has the secret.
func (a *App) tokenCommand() string {
	if a.inMemory != nil {
		return ""
	}
	return a.inputs.TokenCommand
}

// docsLink returns the last lines of the banner: the link to the docs page, which may be a long one, has
// its own.
func (a *App) docsLink() string {
	if !a.config.Docs {
		return ""
	}
	base := a.BaseURL()
	if a.showsToken() {
		grant := keys.GrantFor(a.config.Tokens(), keys.DefaultSubject, keys.LinkLifetime)
		if token, err := keys.HS256(a.secrets[0]).Issue(grant, time.Now()); err == nil {
			link := logging.Hyperlink(a.inputs.Stderr, apidocs.TokenLink(base, token), a.inputs.Environ["TERM"])
			return "Try it in a browser, for an hour:\n" + link + "\n"
		}
	}
	return "Try it in a browser:\n" + logging.Line(base+apidocs.PagePath) + "\n"
}

// showsToken reports whether the banner may contain a token: only a person sees it, on a
// terminal, only programs on this machine can use it, and the server is a trial without a
// configured secret (C4.25).
func (a *App) showsToken() bool {
	c := a.config
	return a.format != logging.JSON && logging.IsTerminal(a.inputs.Stderr) &&
		c.GeneratesSecret() && c.BaseURL == "" && len(c.ACMEDomains) == 0 &&
		loopback.Is(a.address())
}
