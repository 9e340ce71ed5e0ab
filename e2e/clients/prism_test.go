package clients

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

// leastChecked is the minimum number of responses that prism must have checked.
const leastChecked = 300

// A prism is a proxy in front of a server that checks requests and responses against a
// description.
type prism struct {
	url string

	mu  sync.Mutex
	log strings.Builder
}

// startPrism runs a command of prism, on a free port.
func startPrism(t *testing.T, command string) *prism {
	t.Helper()
	args := slices.Concat(strings.Fields(command)[1:], []string{"--host", "127.0.0.1", "--port", "0"})
	cmd := exec.CommandContext(t.Context(), tools.Require(t, "prism"), args...)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	p := new(prism)
	ready := make(chan string, 1)
	followed := make(chan struct{})
	go p.follow(out, ready, followed)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-followed
		_ = cmd.Wait() // it was killed
	})
	select {
	case p.url = <-ready:
	case <-followed:
	case <-time.After(patience):
	}
	if p.url == "" {
		t.Fatalf("prism is not ready:\n%s", p.text())
	}
	return p
}

// follow records the log and sends the URL in it, until the process exits.
func (p *prism) follow(out io.Reader, ready chan<- string, done chan<- struct{}) {
	defer close(done)
	listening := regexp.MustCompile(`listening on (http://\S+)`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		if url := listening.FindStringSubmatch(lines.Text()); url != nil {
			ready <- url[1]
		}
	}
}

// text returns the log so far.
func (p *prism) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// post sends a NewPlant to the server at base. The result is the status and the body, and
// the violations that prism has reported in the header.
func (w *fixture) post(base, plant string) (response, violations string) {
	w.t.Helper()
	r := must.Get(plantstore.Post(w.t.Context(), plantstore.NewClient(w.t), base, w.token, plant))(w.t)
	return fmt.Sprint(r.Status, " ", r.Body), r.Header.Get("Sl-Violations")
}

// TestPrismFindsNoViolation checks that prism, as a proxy of the conformance run with the
// server's own description, finds no violation in a response. It changes some requests and
// responds to some itself (docs/clients.md), so that the run reports deviations.
func TestPrismFindsNoViolation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	p := startPrism(t, strings.ReplaceAll(sectionOf(t, "Prism").blocks[0].text, documented, strings.TrimPrefix(w.server.BaseURL, "http://")))
	out, err := plantstore.Command(t, t.TempDir(), []string{"TOKEN=" + w.token}, "conformance", "--url", p.url).CombinedOutput()
	if !strings.Contains(string(out), "deviates from the contract") {
		t.Fatalf("%v\n%s", err, out)
	}
	log := p.text()
	for _, line := range regexp.MustCompile(`.*Violation: response.*`).FindAllString(log, -1) {
		t.Error(line)
	}
	checked := strings.Count(log, "The upstream call to /plants has returned ") - strings.Count(log, "Selected route not found")
	t.Logf("prism checked %d responses", checked)
	if checked < leastChecked {
		t.Errorf("prism has checked only %d responses, want at least %d\n%s", checked, leastChecked, out)
	}
}

// TestPrismFindsViolation checks that with a wrong description, prism finds a violation in a
// response.
func TestPrismFindsViolation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	description := w.run("curl", "--silent", "--fail", w.server.DescriptionURL)
	w.write("openapi.yaml", strings.Replace(description, "unevaluatedProperties: false", "required: [height]", 1))
	p := startPrism(t, "prism proxy "+filepath.Join(w.dir, "openapi.yaml")+" "+w.server.BaseURL)
	response, violations := w.post(p.url, `{"id":1,"name":"a","tag":"b"}`)
	if !strings.Contains(violations, `"location":["response","body"]`) {
		t.Errorf("%s, violations %s", response, violations)
	}
}
