package attack

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/terminal"
	"plantstore/internal/must"
)

// escapes are control characters of C0 and C1 that set the title of a terminal, clear and forge
// a line, and reorder the following text.
const escapes = "\x1b]0;title\x07\x1b[2K\rforged\u009b2J\u0085\x7f\u202e\u2066\u200f\u061c\u2028"

// checkOutput checks that the output of a command contains the words, and no character that must not
// reach a terminal or a log. A terminal that is opened here writes a line end as \r\n.
func checkOutput(t *testing.T, command, output string, words ...string) {
	t.Helper()
	for _, r := range strings.ReplaceAll(output, "\r\n", "\n") {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			t.Errorf("%s: %U in %q", command, r, output)
		}
	}
	for _, word := range words {
		if !strings.Contains(output, word) {
			t.Errorf("%s: no %q in %q", command, word, output)
		}
	}
}

// TestStoredEscapesOnTerminal checks that plants of clients are escaped on a terminal, and
// exact in an export.
func TestStoredEscapesOnTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	importing := plantstore.Command(t, dir, nil, "plants", "import", "-")
	importing.Stdin = bytes.NewReader(must.Get(json.Marshal(map[string]any{"id": 1, "name": escapes, "tag": escapes}))(t))
	if code, out := plantstore.Finish(t, importing); code != 0 {
		t.Fatal(out)
	}
	exported := plantstore.Run(t, dir, "plants", "export")
	if !strings.Contains(exported, "\u009b2J") || !strings.Contains(exported, "\u202e") {
		t.Errorf("the export is not exact: %q", exported)
	}
	for _, command := range []string{
		"plants list", "plants list --format jsonl", "plants list --format csv", "plants get 1", "plants get 1 --format jsonl",
		"plants export -", "plants export --format csv -",
	} {
		shown := terminal.Output(t, plantstore.Command(t, dir, nil, strings.Fields(command)...))
		checkOutput(t, command, shown, "forged", `\u009b2J`, `\u202e`)
		if !strings.Contains(command, "jsonl") && command != "plants export -" {
			continue
		}
		var plant struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(shown, "\r\n", "\n")), &plant); err != nil || plant.Name != escapes {
			t.Errorf("%s: as JSON it is %q, %v", command, plant.Name, err)
		}
	}
}

// TestEscapesInMessages checks that file names, names in a file, and arguments are escaped.
func TestEscapesInMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := "a\x1b[2K\nplantstore: forged\u009b\u202e.jsonl"
	duplicate := fmt.Appendf(nil, `{%s:1,%[1]s:2}`, must.Get(json.Marshal(escapes))(t))
	must.Do(t, os.WriteFile(filepath.Join(dir, file), duplicate, 0o600))
	forged := regexp.MustCompile(`(?m)^(plantstore: )?forged`)
	for command, args := range map[string][]string{
		"a bad line":        {"plants", "import", file},
		"a bad line, JSON":  {"plants", "import", "--json", file},
		"no such file":      {"plants", "import", file + "x"},
		"an export":         {"plants", "export", "--storage-url", "bbolt:" + filepath.Join(dir, "data/plants.db"), "new" + file},
		"no such command":   {escapes},
		"no such flag":      {"--" + escapes},
		"a value of a flag": {"plants", "list", "--limit", escapes},
		"an option":         {"serve", "--addr", escapes},
		"an id":             {"plants", "get", escapes},
		"a directory":       {"check", "--storage-url", "bbolt:\u202e/x"},
	} {
		shown := terminal.Output(t, plantstore.Command(t, dir, nil, args...))
		checkOutput(t, command, shown)
		if forged.MatchString(strings.ReplaceAll(shown, "\r\n", "\n")) {
			t.Errorf("%s: a line is forged: %q", command, shown)
		}
		piped := plantstore.Command(t, dir, nil, args...)
		var stderr strings.Builder
		piped.Stderr = &stderr // a log, as often as not
		_ = piped.Run()
		checkOutput(t, command+", to a pipe", stderr.String())
	}
}

// TestEscapesOfPeers checks that the response of a peer does not affect the terminal of the
// command.
func TestEscapesOfPeers(t *testing.T) {
	t.Parallel()
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		message, _ := json.Marshal(escapes + "\nplantstore: forged")
		w.Header().Set("Content-Type", "application/json"+"\u202e")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"error":503,"message":%s}`, message)
	}))
	t.Cleanup(peer.Close)
	for _, format := range []string{"text", "json", "junit"} {
		shown := terminal.Output(t, plantstore.Command(t, t.TempDir(), []string{"NO_COLOR=1"}, "conformance", "--url", peer.URL, "--rule", "C1.2", "--format", format,
			"--token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"))
		shown = regexp.MustCompile(`^(?:\r[^\r\n]*)+\r`).ReplaceAllString(shown, "") // the progress bar
		checkOutput(t, "conformance, "+format, shown, "POST /plants", "forged")
	}
}

// TestEscapesInLogs checks that input of a client is escaped in the logs.
func TestEscapesInLogs(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"LOG_LEVEL=debug", "LOG_FORMAT=json"}})
	token := server.Token("--subject", escapes)
	for _, path := range []string{"/plants", "/" + url.PathEscape(escapes)} {
		must.Get(plantstore.Do(t.Context(), http.DefaultClient, http.MethodPost, server.BaseURL+path, `{"id":1,"name":"a"}`,
			"Authorization", "Bearer "+token, "Content-Type", "application/json", "User-Agent", "\u009b2J\u202e"))(t)
	}
	server.Stop()
	checkOutput(t, "the log", server.Log(), `/\u001b]0;title\u0007`, `\u009b2J`, `\u202e`, "forged")
}
