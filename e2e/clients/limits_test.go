package clients

import (
	"os/exec"
	"strings"
	"testing"

	"plantstore/e2e/internal/tools"
)

// TestOpenAPITypeScriptRoundsIDs checks that by default openapi-typescript declares an id as a
// number, which JavaScript rounds.
func TestOpenAPITypeScriptRoundsIDs(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.run("openapi-typescript", w.server.DescriptionURL, "--output", "plants.d.ts")
	w.write("number.ts", `import createClient from 'openapi-fetch'
		import type { paths } from './plants.js'
		const client = createClient<paths>({
			baseUrl: process.env.BASE_URL!, headers: { Authorization: 'Bearer ' + process.env.TOKEN }
		})
		for (const id of [9007199254740993, 9007199254740992]) {
			const { response, error } = await client.POST('/plants', { body: { id, name: 'a' } })
			console.log(response.status, error?.message)
		}`)
	w.compile("number.ts")
	wantOutput(t, w.run("node", "number.js"), "200 undefined\n400 id: 9007199254740992 is taken; the stored plant is identical to this one\n", "", "")
}

// TestDreddReadsOpenAPI30 checks the limits of Dredd, which supports OpenAPI 3.0: it ignores
// most of a description of 3.1, and expects every header field of the 400 in each response.
func TestDreddReadsOpenAPI30(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.write("openapi.yaml", w.run("curl", "--silent", "--fail", w.server.DescriptionURL))
	cmd := exec.CommandContext(t.Context(), tools.Require(t, "dredd"), "openapi.yaml", w.server.BaseURL, "--loglevel", "warning",
		"--header", "Authorization: Bearer "+w.token)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	for _, want := range []string{
		"Version '3.1.0' is not fully supported", "pass\x1b[39m: POST (200) /plants", "fail\x1b[39m: POST (400) /plants",
		"headers: At '/allow' Missing required property: allow",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in the output of dredd (%v):\n%s", want, err, out)
		}
	}
}
