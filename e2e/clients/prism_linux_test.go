package clients

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// leastChecked is the minimum number of responses that prism must have checked.
const leastChecked = 300

// startPrism runs a command of prism, a proxy that checks requests and responses against a description,
// on a free port. log returns its output so far.
func startPrism(t *testing.T, command string) (url string, log func() string) {
	t.Helper()
	args := slices.Concat(strings.Fields(command)[1:], []string{"--host", "127.0.0.1", "--port", "0"})
	p := process.Start(t, t.TempDir(), exec.CommandContext(context.Background(), tools.Require(t, "prism"), args...))
	log = func() string { return string(must.Get(os.ReadFile(p.LogFile))(t)) }
	process.Eventually(t, "prism listens", func(context.Context) error {
		found := regexp.MustCompile(`listening on (http://\S+)`).FindStringSubmatch(log())
		if found == nil {
			return errors.New(log())
		}
		url = found[1]
		return nil
	})
	return url, log
}

// TestPrismFindsNoViolation checks that prism, as a proxy of the conformance run with the
// server's own description, finds no violation in a response. It changes some requests and
// responds to some itself (docs/clients.md).
func TestPrismFindsNoViolation(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	all := sections(t)
	prism := all[slices.IndexFunc(all, func(s section) bool { return s.name == "Prism" })].steps[0].Command
	url, log := startPrism(t, strings.ReplaceAll(prism, documented, strings.TrimPrefix(server.BaseURL, "http://")))
	// On a busy machine, prism is too slow for some cases.
	out, _ := plantstore.Command(t, t.TempDir(), []string{"TOKEN=" + server.Token()}, "conformance", "--url", url).CombinedOutput()
	for _, line := range regexp.MustCompile(`.*Violation: response.*`).FindAllString(log(), -1) {
		t.Error(line)
	}
	checked := strings.Count(log(), "The upstream call to /plants has returned ") - strings.Count(log(), "Selected route not found")
	t.Logf("prism checked %d responses", checked)
	if checked < leastChecked {
		t.Errorf("prism has checked only %d responses, want at least %d\n%s", checked, leastChecked, out)
	}
}

// TestPrismFindsViolation checks that with a wrong description, prism finds a violation in a
// response.
func TestPrismFindsViolation(t *testing.T) {
	t.Parallel()
	server, path := plantstore.Start(t, plantstore.Options{}), filepath.Join(t.TempDir(), "openapi.yaml")
	wrong := strings.Replace(server.Get(server.DescriptionURL).Body, "unevaluatedProperties: false", "required: [height]", 1)
	must.Do(t, os.WriteFile(path, []byte(wrong), 0o600))
	url, _ := startPrism(t, "prism proxy "+path+" "+server.BaseURL)
	r := must.Get(plantstore.Post(t.Context(), plantstore.NewClient(t), url, server.Token(), `{"id":1,"name":"a","tag":"b"}`))(t)
	if violations := r.Header.Get("Sl-Violations"); !strings.Contains(violations, `"location":["response","body"]`) {
		t.Errorf("%d %s, violations %s", r.Status, r.Body, violations)
	}
}
