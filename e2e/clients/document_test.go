// Package clients tests common clients of the service, as shown in docs/clients.md.
package clients

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// The addresses in the document.
const (
	documented      = "127.0.0.1:8080"
	documentedAdmin = "127.0.0.1:8081"
)

func TestMain(m *testing.M) {
	os.Exit(plantstore.Main(m))
}

// A block is a block of the document, with its language.
type block struct {
	language, text string
	file           string // the last name of a file before it
}

// A section is a part of the document with a heading, or the introduction.
type section struct {
	name   string
	blocks []block
}

// sections returns the introduction and the sections of the document.
func sections(t *testing.T) []section {
	t.Helper()
	all := []section{{}}
	file, inside := "", false
	for line := range strings.Lines(string(tools.ProjectFile(t, "docs/clients.md"))) {
		last := &all[len(all)-1]
		switch language, fence := strings.CutPrefix(line, "```"); {
		case fence && !inside:
			last.blocks = append(last.blocks, block{language: strings.TrimSpace(language), file: file})
			inside = true
		case fence:
			inside = false
		case inside:
			last.blocks[len(last.blocks)-1].text += line
		case strings.HasPrefix(line, "## "):
			all = append(all, section{name: strings.TrimSpace(line[3:])})
		default:
			for _, name := range regexp.MustCompile("`([\\w.-]+\\.(?:py|go|mjs|ts|json))`").FindAllStringSubmatch(line, -1) {
				file = name[1]
			}
		}
	}
	return all
}

// files returns the files in a section, by name.
func (s section) files() map[string]string {
	files := map[string]string{}
	for _, b := range s.blocks {
		if !slices.Contains([]string{"sh", "console"}, b.language) {
			files[b.file] = b.text
		}
	}
	return files
}

// commands returns the commands in a section and the outputs that it shows for them, but for the
// start of a server, whose arguments it returns.
func (s section) commands() (commands, outputs, serve []string) {
	for _, b := range s.blocks {
		switch {
		case strings.HasPrefix(b.text, "plantstore serve "):
			serve = strings.Fields(b.text)[2:]
		case b.language == "sh":
			commands, outputs = append(commands, b.text), append(outputs, "")
		case b.language == "console":
			for step := range strings.SplitSeq("\n"+b.text, "\n$ ") {
				if command, output, _ := strings.Cut(step, "\n"); command != "" {
					commands, outputs = append(commands, command), append(outputs, output)
				}
			}
		}
	}
	return commands, outputs, serve
}

// programs returns the commands that run the programs that the document refers to, in the directory
// of their section, and their output.
func programs() map[string][2]string {
	const compile = "npx tsc --strict --target es2022 --module nodenext "
	return map[string][2]string{
		"ogen.go.txt": {"mv ogen.go.txt main.go && go mod tidy && go run .", `200 Welwitschia mirabilis
400 409 id: 9007199254740993 is taken; the stored plant is identical to this one
200 Wolffia arrhiza
`},
		"hey-api.ts": {compile + "hey-api.ts && node hey-api.js", `200 Welwitschia mirabilis long-lived
400 409 id: 9007199254740993 is taken; the stored plant is identical to this one
200 Wolffia arrhiza undefined
400 422 id: must be from -9223372036854775808 to 9223372036854775807
200 a number is taken all the same undefined
`},
		"orval.ts": {compile + "orval.ts && node orval.js", `200 Monstera climber
400 409 id: 1 is taken; the stored plant is identical to this one
`},
	}
}

// TestDocument runs each section of the document in an empty directory with a new server. The
// commands and files are unchanged, except for the addresses; npm installs from the packages of this
// module.
func TestDocument(t *testing.T) {
	t.Parallel()
	all := sections(t)
	document := string(tools.ProjectFile(t, "docs/clients.md"))
	for _, s := range all[1:] {
		if s.blocks == nil || slices.Contains([]string{"Prism", "Add a playground to your documentation", "Schemathesis"}, s.name) { // see TestPrismFindsNoViolation
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			first, _, serve := all[0].commands()
			commands, outputs, own := s.commands()
			if own != nil {
				serve = own
			}
			files := s.files()
			_, text, _ := strings.Cut(document, "\n## "+s.name+"\n")
			text, _, _ = strings.Cut(text, "\n## ")
			for name, program := range programs() {
				if strings.Contains(text, "`e2e/clients/testdata/"+name+"`") {
					files[name] = string(tools.ProjectFile(t, "e2e/clients/testdata/"+name))
					commands, outputs = append(commands, program[0]), append(outputs, program[1])
				}
			}
			runDocumented(t, serve, files, append(first, commands...), append(make([]string, len(first)), outputs...))
		})
	}
}

// runDocumented runs commands in one shell in a new directory with files and a server. Each must
// succeed, and print the output that the document shows, unless that is empty.
func runDocumented(t *testing.T, serve []string, files map[string]string, commands, outputs []string) {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "http", "newman", "bru", "dredd", "portman", "tsc", "npx"} {
		tools.Require(t, tool)
	}
	server := plantstore.Start(t, plantstore.Options{Args: serve})
	place := strings.NewReplacer(documented, strings.TrimPrefix(server.BaseURL, "http://"),
		documentedAdmin, strings.TrimPrefix(server.AdminURL, "http://"))
	for name, text := range files {
		must.Do(t, os.WriteFile(filepath.Join(server.Dir, name), []byte(text), 0o600))
	}
	script := "set -e -o pipefail\n"
	for _, command := range commands {
		if strings.Contains(command, "docs/") {
			copyClone(t, server.Dir)
		}
		script += place.Replace(command) + "\nprintf '\\0'\n"
	}
	bash := exec.CommandContext(t.Context(), tools.Require(t, "bash"), "-c", script)
	bash.Dir = server.Dir
	bash.Env = append(os.Environ(), "PATH="+strings.Join([]string{
		programsDir(t), filepath.Dir(plantstore.Command(t, "", nil).Path), os.Getenv("PATH"), filepath.Join(tools.Project(t), "e2e/node/node_modules/.bin"),
	}, ":"))
	printed, err := bash.Output()
	got := strings.Split(string(printed), "\x00")
	if err != nil {
		exit := new(exec.ExitError)
		_ = errors.As(err, &exit) // else it has not run
		t.Fatalf("$ %s\nfailed: %v\n%s%s", commands[min(len(got), len(commands))-1], err, got[len(got)-1], exit.Stderr)
	}
	for i, want := range outputs {
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got[i])); want != "" && diff != "" {
			t.Errorf("$ %s\nprints (-text +got):\n%s", commands[i], diff)
		}
	}
}

// copyClone copies the collections into a directory.
func copyClone(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"docs/postman", "docs/bruno"} {
		must.Do(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(tools.Project(t), name))))
	}
}

// programsDir returns a directory with an npm that installs only links to the packages of this module,
// and the Python that has Requests.
func programsDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	node := filepath.Join(tools.Project(t), "e2e/node")
	npm := `#!/bin/bash
set -euo pipefail
test "$1" = install
for package in "${@:2}"; do
	[[ $package =~ ^(.+)@([0-9.]+)$ ]]
	package=${BASH_REMATCH[1]}
	grep -qF "\"$package\": \"${BASH_REMATCH[2]}." ` + node + `/package.json
	mkdir -p node_modules/.bin "$(dirname "node_modules/$package")"
	ln -s ` + node + `/node_modules/"$package" "node_modules/$package"
	for bin in ` + node + `/node_modules/.bin/*; do
		if [[ $(readlink "$bin") == "../$package/"* ]]; then ln -s "$(readlink -f "$bin")" "node_modules/.bin/$(basename "$bin")"; fi
	done
done
`
	must.Do(t, os.WriteFile(filepath.Join(dir, "npm"), []byte(npm), 0o700))
	must.Do(t, os.Symlink("/usr/bin/python3", filepath.Join(dir, "python3")))
	return dir
}
