package cli_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestExitCodes checks the exit codes that the help lists.
func TestExitCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	someStored(t)
	writeFile(t, "good.jsonl", someLines)
	writeFile(t, "bad.jsonl", "{}\n")
	writeFile(t, "taken.jsonl", `{"id":0,"name":"another"}`+"\n")
	writeFile(t, "bad.db", string(bytes.ReplaceAll([]byte(readFile(t, "data/plants.db")), []byte("Käfer"), []byte("Kafer!"))))
	for command, code := range exitCodes() {
		t.Run(command, func(t *testing.T) {
			r := run(t, nil, strings.Fields(command)...)
			if r.code != code || (code == 0) != (r.stderr == "") && !strings.HasPrefix(command, "token") {
				t.Errorf("it ends with %d, want %d; stderr:\n%s", r.code, code, r.stderr)
			}
		})
	}
}

// exitCodes returns commands and how they end.
func exitCodes() map[string]int {
	return map[string]int{
		"plants list":              0,
		"plants get 0":             0,
		"plants count":             0,
		"plants export":            0,
		"plants export out.csv":    0,
		"plants import good.jsonl": 0,
		"backup copy.db":           0,
		"check":                    0,
		"config":                   0,
		"token":                    0,
		"help":                     0,
		"version":                  0,
		"openapi":                  0,
		"plants export -o x":       2,
		"restore --json":           2,
		"plants get x":             2,
		"plants":                   0,
		"plants nosuch":            2,
		"backup data/plants.db":    2,
		"restore data/plants.db":   2,

		"serve --acme-directory https://a": 2,
		"config --tls-key-file x":          2,

		"conformance --url http://127.0.0.1":                        2,
		"conformance --url ftp://127.0.0.1 --token x":               2,
		"conformance --leeway -1s --url http://127.0.0.1 --token x": 2,

		"plants get 1":                                               1,
		"plants list --storage-url no.db":                            1,
		"plants export no/out.csv":                                   1,
		"plants import no.csv":                                       1,
		"backup --storage-url no.db no-copy.db":                      1,
		"restore no.db":                                              1,
		"check --storage-url no.db":                                  1,
		"check --storage-url bad.db":                                 1,
		"plants export --storage-url bad.db":                         3,
		"restore good.jsonl":                                         2,
		"plants list --storage-url bad.db":                           3,
		"plants get --storage-url bad.db 0":                          0,
		"plants count --storage-url bad.db":                          0,
		"backup --storage-url bad.db bad-copy.db":                    3,
		"restore --force bad.db":                                     3,
		"plants import bad.jsonl":                                    3,
		"plants import taken.jsonl":                                  3,
		"plants import --on-conflict skip taken.jsonl":               0,
		"plants import --dry-run bad.jsonl":                          3,
		"serve --addr 127.0.0.1:0 --admin-addr off --seed bad.jsonl": 3,
		"serve --addr 127.0.0.1:0 --storage-url none/":               1,
		"health": 1, "requests": 1, "requests --limit -1": 2,
		"conformance --url http://127.0.0.1:1 --token x": 1,

		"plants count --storage-url postgres:x":               2,
		"plants count --storage-url bbolt://host/x":           2,
		"plants count --storage-url postgres://127.0.0.1:1/p": 2,
	}
}

// TestEmptyArgument checks that an empty argument, such as from an unset variable, is invalid
// usage.
func TestEmptyArgument(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, command := range []string{"backup", "restore", "plants get", "plants export", "plants import"} {
		t.Run(command+" of an empty file", func(t *testing.T) {
			if r := run(t, nil, append(strings.Fields(command), "")...); r.code != 2 || !strings.Contains(r.stderr, ", but got an empty one\n") {
				t.Errorf("%+v, want 2", r)
			}
		})
	}
}

// TestUnknownEngine checks that an unknown engine is invalid usage for every command.
func TestUnknownEngine(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "good.jsonl", someLines)
	for _, command := range []string{
		"serve", "token", "config", "backup x.db", "restore good.jsonl", "check",
		"plants list", "plants get 1", "plants count", "plants export", "plants import good.jsonl",
	} {
		t.Run(command+" with an unknown engine", func(t *testing.T) {
			for _, url := range []string{"sqlite://x", "mysql://me:hunter2@h/p"} {
				scheme, _, _ := strings.Cut(url, ":")
				r := run(t, []string{"STORAGE_URL=" + url}, strings.Fields(command)...)
				if r.code != 2 || !strings.Contains(r.stderr, `storage URL has the unknown scheme "`+scheme+`"; known: bbolt`) || strings.Contains(r.stderr, "hunter2") {
					t.Errorf("%s: %+v, want 2", url, r)
				}
			}
		})
	}
	if _, err := os.Stat("jwt-secret"); err == nil {
		t.Error("a secret was made for an engine that keeps none")
	}
}
