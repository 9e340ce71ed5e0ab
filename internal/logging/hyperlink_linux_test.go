package logging_test

import (
	"os"
	"strings"
	"testing"

	"plantstore/internal/logging"
	"plantstore/internal/must"
)

// TestHyperlink checks that a URL can be clicked on a terminal with a name, unless it has no links.
func TestHyperlink(t *testing.T) {
	t.Parallel()
	terminal := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))(t)
	defer func() { _ = terminal.Close() }()
	const url = "http://a/"
	for name, linked := range map[string]bool{"xterm": true, "": false, "dumb": false, "linux": false} {
		if got := logging.Hyperlink(terminal, url, name); (got != url) != linked || !strings.Contains(got, url) {
			t.Errorf("%q: %q, want a link: %t", name, got, linked)
		}
	}
	if got := logging.Hyperlink(new(strings.Builder), url, "xterm"); got != url {
		t.Errorf("in a file: %q", got)
	}
}
