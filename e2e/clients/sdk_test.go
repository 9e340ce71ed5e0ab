package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// created is the output of the programs of testdata: an id beyond 2^53 and the least id are
// created once and printed exactly.
const created = `200 Welwitschia mirabilis%tag
400 409 id: 9007199254740993 is taken; the stored plant is identical to this one
200 Wolffia arrhiza%none
`

// createdInTypeScript is the output of programs that can send more than an int64.
const createdInTypeScript = created + `400 422 id: must be from -9223372036854775808 to 9223372036854775807
200 a number is taken all the same%none
`

func wantOutput(t *testing.T, got, want, tag, none string) {
	t.Helper()
	if want = strings.NewReplacer("%tag", tag, "%none", none).Replace(want); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

// compile compiles a program in TypeScript, strictly, for node.
func (w *fixture) compile(name string) {
	w.t.Helper()
	w.write("package.json", `{"type": "module"}`)
	// Only the node types that the programs need.
	w.write("node.d.ts", `declare const process: { env: Record<string, string | undefined> }`)
	w.write("tsconfig.json", `{
		"compilerOptions": {
			"strict": true, "target": "es2022", "module": "nodenext", "lib": ["es2022", "dom", "dom.iterable"], "types": []
		},
		"files": ["node.d.ts", "`+name+`"]
	}`)
	w.run("tsc")
}

func TestOpenAPIFetch(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "generate.mjs", "openapi-fetch.ts")
	w.run("node", "generate.mjs")
	w.compile("openapi-fetch.ts")
	wantOutput(t, w.run("node", "openapi-fetch.js"), createdInTypeScript, " long-lived", " undefined")
}

func TestHeyAPI(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "openapi-ts.config.mjs", "hey-api.ts")
	w.run("openapi-ts", "--file", "openapi-ts.config.mjs", "--silent")
	w.compile("hey-api.ts")
	wantOutput(t, w.run("node", "hey-api.js"), createdInTypeScript, " long-lived", " undefined")
}

// oapiCodegen is the generator of Go clients.
const oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

func TestOAPICodegen(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "oapi-codegen.go.txt")
	w.write("openapi.yaml", w.run("curl", "--silent", "--fail", w.server.DescriptionURL))
	w.write("go.mod", "module client\n\ngo 1.26\n")
	w.run("mv", "oapi-codegen.go.txt", "main.go")
	w.run("go", "run", oapiCodegen, "-generate", "types,client", "-package", "main", "-o", "plants.go", "openapi.yaml")
	w.run("go", "mod", "tidy")
	wantOutput(t, w.run("go", "run", "."), created, "", "")
}

// ogen generates a client of Go as a package of the module client.
const ogen = `go mod init client
go mod edit -tool=github.com/ogen-go/ogen/cmd/ogen -require=github.com/ogen-go/ogen@v1.14.0
go mod tidy
go tool ogen --target plants --package plants openapi.yaml
`

func TestOgen(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "ogen.go.txt")
	w.write("openapi.yaml", w.run("curl", "--silent", "--fail", w.server.DescriptionURL))
	w.run("sh", "-e", "-c", ogen)
	w.run("mv", "ogen.go.txt", "main.go")
	w.run("go", "mod", "tidy")
	wantOutput(t, w.run("go", "run", "."), created, "", "")
}

// TestOrval checks that the client that orval generates works for small ids; its ids are
// numbers.
func TestOrval(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "orval.config.mjs", "orval.ts")
	w.run("orval", "--config", "orval.config.mjs")
	w.compile("orval.ts")
	const want = "200 Monstera climber\n400 409 id: 1 is taken; the stored plant is identical to this one\n"
	wantOutput(t, w.run("node", "orval.js"), want, "", "")
}

// TestDocument checks that the document shows the tested programs, or names their files, and shows
// their output.
func TestDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	programs, err := filepath.Glob("testdata/*")
	if err != nil || len(programs) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	shown := []string{oapiCodegen, ogen, strings.NewReplacer("%tag", " long-lived", "%none", " None").Replace(created)}
	for _, path := range programs {
		if strings.Contains(string(text), "`e2e/clients/"+path+"`") {
			continue
		}
		program, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, string(program))
	}
	for _, piece := range shown {
		if !strings.Contains(string(text), piece) {
			t.Errorf("the document does not show\n%s", piece)
		}
	}
}
