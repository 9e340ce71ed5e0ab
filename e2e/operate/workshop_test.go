package operate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestWorkshop runs the commands of "Run a workshop" in docs/api.md: each of the twenty links has a
// token that creates plants, and each reset removes them. The addresses and paths are of this test.
func TestWorkshop(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(string(tools.ProjectFile(t, "docs/api.md")), "\n## Run a workshop\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```\\w+\n(.*?)```").FindAllStringSubmatch(section, 4)
	if len(blocks) != 4 {
		t.Fatalf("docs/api.md has %d blocks, want the server, the links, the resets and the line for cron", len(blocks))
	}
	serve, links, resets, cron := blocks[0][1], blocks[1][1], blocks[2][1], blocks[3][1]

	const base = "http://192.0.2.10:8080"
	args := strings.NewReplacer(":8080 --base-url "+base, "127.0.0.1:0", "docs/", tools.Project(t)+"/docs/").Replace(serve)
	server := plantstore.Start(t, plantstore.Options{Args: strings.Fields(args)[2:]})
	binary := plantstore.Command(t, "", nil).Path
	shell := func(script string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), tools.Require(t, "bash"), "-ec", script)
		cmd.Dir, cmd.Env = server.Dir, append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
		return string(must.Get(cmd.Output())(t))
	}
	printed := strings.Split(strings.TrimSpace(shell(links)), "\n")
	create := func(id int) (codes string) {
		for _, link := range printed {
			_, token, _ := strings.Cut(link, base+"/docs#token=")
			codes += fmt.Sprint(server.Post(token, fmt.Sprintf(`{"id":%d,"name":"mine"}`, id)).Code, " ")
		}
		return codes
	}
	want := "0 " + strings.Repeat("409 ", 19) // all tokens are accepted, and the first creates the plant
	for _, reset := range append(strings.Split(strings.TrimSpace(resets), "\n"), "cron") {
		if got := create(1); got != want {
			t.Errorf("before %s, the error codes are %s, want %s", reset, got, want)
		}
		if got := create(1001); got != strings.Repeat("409 ", 20) {
			t.Errorf("before %s, the seed is not there: the error codes are %s", reset, got)
		}
		if reset == "cron" {
			line := strings.NewReplacer("0 * * * * ", "", "/srv/workshop", server.Dir, "/usr/local/bin/plantstore", binary).Replace(cron)
			reset = "env -i sh -c '" + strings.TrimSpace(line) + "'"
		}
		shell(strings.ReplaceAll(reset, "127.0.0.1:8081", strings.TrimPrefix(server.AdminURL, "http://")))
	}
	if r := server.Post(server.Token(), `{"id":1,"name":"mine"}`); r.Code != 0 {
		t.Errorf("after the resets: %+v", r)
	}
	if log := server.Log(); !strings.Contains(log, `"subject":"seat-1"`) || !strings.Contains(log, `"subject":"seat-20"`) {
		t.Errorf("the log does not have the subjects of the seats:\n%s", log)
	}
}
