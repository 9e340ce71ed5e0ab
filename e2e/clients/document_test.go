// Package clients tests common clients of the service, as shown in docs/clients.md.
package clients

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plantstore/e2e/internal/document"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// The addresses in the document.
const (
	documented      = "127.0.0.1:8080"
	documentedAdmin = "127.0.0.1:8081"
)

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// A section is a part of the document with a heading, or the introduction.
type section struct {
	name, text string
	files      map[string]string
	serve      []string // arguments of the server that it starts
	steps      []document.Step
}

// sections returns the introduction and the sections of the document. A block in another language than that of
// commands is the file that was named last.
func sections(t *testing.T) (all []section) {
	t.Helper()
	parts := regexp.MustCompile("(?ms)`([\\w.-]+\\.(?:py|go|mjs|ts|json))`|^```(\\w+)\n(.*?)^```$")
	for text := range strings.SplitSeq(string(tools.ProjectFile(t, "docs/clients.md")), "\n## ") {
		name, _, _ := strings.Cut(text, "\n")
		s, file := section{name: name, text: text, files: map[string]string{}}, ""
		for _, part := range parts.FindAllStringSubmatch(text, -1) {
			switch name, language, block := part[1], part[2], part[3]; {
			case name != "":
				file = name
			case strings.HasPrefix(block, "plantstore serve "):
				s.serve = strings.Fields(block)[2:]
			case language == "sh":
				s.steps = append(s.steps, document.Step{Command: block})
			case language == "console":
				s.steps = append(s.steps, document.Console(block)...)
			default:
				s.files[file] = block
			}
		}
		all = append(all, s)
	}
	return all
}

// programs returns the commands that run the programs that the document refers to, in the directory
// of their section, and their output.
func programs() map[string]document.Step {
	const compile = "npx tsc --strict --target es2022 --module nodenext "
	return map[string]document.Step{
		"ogen.go.txt": {Command: "mv ogen.go.txt main.go && go mod tidy && go run .", Output: `200 Welwitschia mirabilis
400 409 id: 9007199254740993 is taken; the stored plant is identical to this one
200 Wolffia arrhiza
`},
		"hey-api.ts": {Command: compile + "hey-api.ts && node hey-api.js", Output: `200 Welwitschia mirabilis long-lived
400 409 id: 9007199254740993 is taken; the stored plant is identical to this one
200 Wolffia arrhiza undefined
400 422 id: must be from -9223372036854775808 to 9223372036854775807
200 a number is taken all the same undefined
`},
		"orval.ts": {Command: compile + "orval.ts && node orval.js", Output: `200 Monstera climber
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
	for _, s := range all[1:] {
		if s.steps == nil || s.name == "Prism" || s.name == "Schemathesis" { // see TestPrismFindsNoViolation
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for name, program := range programs() {
				if strings.Contains(s.text, "`e2e/clients/testdata/"+name+"`") {
					s.files[name] = string(tools.ProjectFile(t, "e2e/clients/testdata/"+name))
					s.steps = append(s.steps, program)
				}
			}
			if s.serve == nil {
				s.serve = all[0].serve
			}
			s.steps = slices.Concat(all[0].steps, s.steps)
			s.run(t)
		})
	}
}

// run runs the steps in a new directory with the files and a server.
func (s section) run(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"curl", "http", "newman", "bru", "dredd", "portman", "tsc", "npx"} {
		tools.Require(t, tool)
	}
	server := plantstore.Start(t, plantstore.Options{Args: s.serve})
	addresses := strings.NewReplacer(documented, strings.TrimPrefix(server.BaseURL, "http://"),
		documentedAdmin, strings.TrimPrefix(server.AdminURL, "http://"))
	for name, text := range s.files {
		must.Do(t, os.WriteFile(filepath.Join(server.Dir, name), []byte(text), 0o600))
	}
	for _, name := range []string{"docs/postman", "docs/bruno"} {
		must.Do(t, os.CopyFS(filepath.Join(server.Dir, name), os.DirFS(filepath.Join(tools.Project(t), name))))
	}
	document.Run(t, server.Dir, append(os.Environ(), "PATH="+strings.Join([]string{
		programsDir(t), filepath.Dir(plantstore.Command(t, "", nil).Path), os.Getenv("PATH"), filepath.Join(tools.Project(t), "e2e/node/node_modules/.bin"),
	}, ":")), addresses, s.steps)
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
