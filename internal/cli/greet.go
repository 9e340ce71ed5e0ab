package cli

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"plantstore/internal/config"
	"plantstore/internal/jsonlog"
)

// newLogger returns the logger that c describes, which keeps to level, and whether
// it writes text for people rather than JSON for programs.
func newLogger(w io.Writer, terminal bool, level *slog.LevelVar, c *config.Config) (logger *slog.Logger, text bool) {
	level.Set(c.LogLevel)
	if c.LogFormat == "text" || c.LogFormat == "" && terminal {
		return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})), true
	}
	return slog.New(jsonlog.NewHandler(w, level)), false
}

// lostLines returns what says in the log that so many lines of it were lost.
func lostLines(p *Process, c *config.Config) func(lines uint64) []byte {
	return func(lines uint64) []byte {
		var text bytes.Buffer
		logger, _ := newLogger(&text, isTerminal(p.Stderr), new(slog.LevelVar), c)
		logger.Error("lines of the log were lost: nobody has read it for a while", "lines", lines)
		return text.Bytes()
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// greet says where everything is: in a few lines for people, or as one record
// for programs. It does so at every log level, since somebody waits for it.
func greet(w io.Writer, p *Process, c *config.Config, text bool, base string, l listeners) {
	described, token, docs, metrics, adminURL := base+"/openapi.yaml", tokenCommand(p, c), "", "", l.adminURL()
	if c.Docs {
		docs = base + "/docs"
	}
	if adminURL != "" {
		metrics = adminURL + "/metrics"
	}
	if !text {
		slog.New(slog.NewJSONHandler(w, nil)).Info("ready", "base_url", base, "description_url", described,
			"docs_url", docs, "admin_url", adminURL, "data", dataPlace(c), "audit_log", c.AuditLog, "token_command", token, "addr", strings.Join(l.addresses(), ", "))
		return
	}
	audited := ""
	if c.AuditLog != "" {
		audited = "  audit log    " + c.AuditLog + "\n"
	}
	fmt.Fprintf(w, "The plant store is ready.\n"+
		"  base URL     %s\n  try it       %s\n  description  %s\n  metrics      %s\n  plants       %s\n%s  get a token  %s\n",
		base, cmp.Or(docs, "(DOCS is off)"), described, cmp.Or(metrics, "(ADMIN_ADDR is off)"), dataPlace(c), audited, token)
	if _, socket := config.UnixPath(l.address()); socket || len(l.clients) > 1 {
		fmt.Fprintf(w, "  listens on   %s\n", strings.Join(l.addresses(), ", "))
	}
}

// dataPlace says where the plants are, without a password that a URL may hold.
func dataPlace(c *config.Config) string {
	if c.Storage.Path != "" {
		return c.Storage.Path
	}
	return c.Storage.Scheme
}

// tokenCommand returns the exact command for a token that this server accepts,
// for a POSIX shell in the same folder. It does not tell the secret, but where to
// take it from.
func tokenCommand(p *Process, c *config.Config) string {
	var command []string
	if _, given := c.Given("JWT_SECRET"); given {
		command = append(command, `JWT_SECRET="${JWT_SECRET:?}"`)
	}
	if startedByGoRun(p.Args[0]) {
		command = append(command, "go", "run", ".", "token")
	} else {
		command = append(command, shellQuote(p.Args[0]), "token")
	}
	if !hasSecret(c) {
		command = append(command, "--"+flagKey, "PRIVATE_KEY.pem") // wherever that is
	}
	for _, o := range config.Options() {
		if o.Env == "STORAGE_URL" && c.Storage.Path == "" {
			continue // no secret is kept there, and it may hold a password
		}
		text, given := c.Given(o.Env)
		if o.Env == "JWT_JWKS_URL" {
			text, _, _ = strings.Cut(text, "?") // which may hold a secret, and token fetches nothing
		}
		if given && o.Flag != "" && slices.Contains(tokenOptions(), o.Env) {
			command = append(command, "--"+o.Flag, shellQuote(text))
		}
	}
	return strings.Join(command, " ")
}

// startedByGoRun reports whether the program is one that go run has built: in a
// temporary folder go-build1234, or kept in the build cache in a folder whose
// name is a SHA-256 and -d.
func startedByGoRun(name string) bool {
	dir := filepath.Base(filepath.Dir(name))
	cached := len(dir) == hex.EncodedLen(sha256.Size)+len("-d") && strings.HasSuffix(dir, "-d")
	return cached || dir == "exe" && strings.Contains(name, "go-build")
}

// shellQuote quotes an argument for a POSIX shell, if it needs that.
func shellQuote(argument string) string {
	if argument != "" && config.IsPlain(argument) {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}
