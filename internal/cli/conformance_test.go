package cli_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"plantstore/internal/cli"
)

// TestConformance checks that a server of this project keeps the contract, and that one with a
// different body limit does not.
func TestConformance(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "key", secret+"\n")
	base := startServer(t, "plantstore", nil, "--jwt-secret-file", "key").ready(t).BaseURL
	issued := token(t, nil, "--jwt-secret-file", "key")

	text := output(t, nil, "conformance", "--url", base, "--token", issued, "--secret-file", "key")
	if !strings.Contains(text, base) {
		t.Errorf("the report does not name the server:\n%s", text)
	}

	printed := output(t, nil, "conformance", "--url", base, "--token", issued, "--format", "junit")
	var suites struct{ XMLName xml.Name }
	if err := xml.Unmarshal([]byte(printed), &suites); err != nil || suites.XMLName.Local != "testsuites" {
		t.Errorf("this is not a JUnit report: %v\n%.1000s", err, printed)
	}

	if got := output(t, nil, "conformance", "--url", base, "--token", issued, "--rule", "C2.12", "--verbose"); !strings.HasPrefix(got, "ok    C2.12 ") {
		t.Errorf("the verbose report of a rule is\n%s", got)
	}

	deviates := run(t, nil, "conformance", "--url", base, "--token", issued, "--max-body-bytes", "1000", "--format", "json")
	if want := "plantstore: " + base + " deviates from the contract in "; deviates.code != 1 ||
		!strings.HasPrefix(deviates.stderr, want) {
		t.Errorf("exit code %d, want 1; stderr %q, want at first %q", deviates.code, deviates.stderr, want)
	}
	var report struct{ Target string }
	if err := json.Unmarshal([]byte(deviates.stdout), &report); err != nil || report.Target != base {
		t.Errorf("this is not a JSON report: %v\n%.1000s", err, deviates.stdout)
	}
}

// TestConformanceInterrupted checks that an interrupted command prints the report of what was run.
func TestConformanceInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var seen atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if seen.Add(1) > 1 { // after the probe
			interrupt()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(s.Close)
	var stdout, stderr strings.Builder
	code := cli.Main(ctx, cli.Process{
		Name: "plantstore", Engines: engines(),
		Args:   []string{"plantstore", "conformance", "--url", s.URL, "--token", "t", "--rule", "C2.12"},
		Stdout: &stdout, Stderr: &stderr,
	})
	if want := ":    0 passed   0 failed"; code != 1 || stderr.String() != "plantstore: interrupted\n" || !strings.Contains(stdout.String(), want) {
		t.Errorf("exit code %d, want 1; stderr %q; the report lacks %q:\n%s", code, &stderr, want, &stdout)
	}
}

// TestConformanceRequireExp checks that the selection of cases depends on the claims that the
// server requires.
func TestConformanceRequireExp(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "key", secret+"\n")
	base := startServer(t, "plantstore", nil, "--jwt-secret-file", "key", "--jwt-require-exp").ready(t).BaseURL
	issued := token(t, nil, "--jwt-secret-file", "key")
	output(t, nil, "conformance", "--url", base, "--token", issued, "--secret-file", "key", "--require-exp")
	deviates := run(t, nil, "conformance", "--url", base, "--token", issued, "--secret-file", "key")
	if want := "deviates from the contract in 1 case\n"; deviates.code != 1 || !strings.HasSuffix(deviates.stderr, want) {
		t.Errorf("exit code %d, want 1; stderr %q, want at its end %q", deviates.code, deviates.stderr, want)
	}
}

// TestConformanceMeetsRateLimit checks that a rate limit that is not given fails the command, with
// the reason and the flag: a run without most of its cases shows nothing.
func TestConformanceMeetsRateLimit(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "key", secret+"\n")
	base := startServer(t, "plantstore", nil, "--jwt-secret-file", "key", "--rate-limit", "5/h").ready(t).BaseURL
	issued := token(t, nil, "--jwt-secret-file", "key")
	limited := run(t, nil, "conformance", "--url", base, "--token", issued)
	prefix, suffix := "plantstore: the rate limit of "+base+" stopped ", " cases: set --rate-limit\n"
	if limited.code != 1 || !strings.HasPrefix(limited.stderr, prefix) || !strings.HasSuffix(limited.stderr, suffix) ||
		strings.Count(limited.stderr, "\n") != 1 {
		t.Errorf("exit code %d, want 1; stderr %q, want %qN%q", limited.code, limited.stderr, prefix, suffix)
	}
	if want := " (--rate-limit)"; !strings.Contains(limited.stdout, want) {
		t.Errorf("the report lacks %q:\n%s", want, limited.stdout)
	}
}

func TestConformanceWithWeakSecret(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "weak", "hunter2")
	checkFailure(t, run(t, nil, "conformance", "--url", "http://a", "--token", "t", "--secret-file", "weak"), 1,
		"--secret-file: weak: line 1: the secret is too weak: it has 7 bytes, *")
}

// TestConformanceToken checks that the token comes from the environment or from a file as well:
// there it does not show in the list of processes.
func TestConformanceToken(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "key", secret)
	base := startServer(t, "plantstore", nil, "--jwt-secret-file", "key").ready(t).BaseURL
	issued := token(t, nil, "--jwt-secret-file", "key")
	writeFile(t, "token", issued+"\n")
	writeFile(t, "empty", "\n")
	output(t, []string{"TOKEN=" + issued}, "conformance", "--url", base)
	output(t, []string{"TOKEN=wrong"}, "conformance", "--url", base, "--token-file", "token")
	output(t, []string{"TOKEN=wrong"}, "conformance", "--url", base, "--token", issued)
	const see = "see: plantstore conformance --help"
	checkFailure(t, run(t, nil, "conformance", "--url", base, "--token-file", "token", "--token", "x"), 2,
		"--token and --token-file are both set; set only one of them", see)
	checkFailure(t, run(t, nil, "conformance", "--url", base), 2,
		"a token is needed: TOKEN in the environment, or --token-file", see)
	checkFailure(t, run(t, nil, "conformance", "--list", "--rule", "C9.9"), 2,
		`rule "C9.9": want a rule such as C2.12; see --list`, see)
	checkFailure(t, run(t, nil, "conformance", "--url", base, "--token-file", "empty"), 2,
		"a token is needed: TOKEN in the environment, or --token-file", see)
	checkFailure(t, run(t, nil, "conformance", "--url", base, "--token-file", "none"), 1,
		"--token-file: no such file or directory (its name is not shown, as it may be a secret); create it with: (umask 077; plantstore token >FILE)")
}
