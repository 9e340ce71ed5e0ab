package browser

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestNewest checks that the page opens on what has just arrived, whatever its id: all of 20 new plants, newest
// first, with their subjects, beside a seed that has higher and lower ids; and that a reset removes them.
func TestNewest(t *testing.T) {
	var seed strings.Builder
	for i := range 100 {
		fmt.Fprintf(&seed, `{"id":%d,"name":"Seed %d"}`+"\n", rand.Int64()-rand.Int64(), i)
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "seed.jsonl"), []byte(seed.String()), 0o600))
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Args: []string{"--ephemeral", "--seed", "seed.jsonl"}})
	link := plantstore.Browse(t, server.Dir).Link
	tabs := map[string]*tab{}
	for _, v := range []view{desktop(), phone()} {
		tb := newTab(t, v)
		tb.do(chromedp.Navigate(link))
		tb.await("Waiting for the next new plant.")
		tb.await(server.BaseURL + `/plants -H "Authorization: Bearer $(` + plantstore.Command(t, "", nil).Path + " token")
		tb.look("newest " + v.name + " 1 none")
		tabs[v.name] = tb
	}
	ids := rand.Perm(1 << 20)[:20]
	token := server.Token("--subject", "alice")
	for i, id := range ids {
		server.Post(token, fmt.Sprintf(`{"id":%d,"name":"New %d"}`, id-1<<19, i))
	}
	for name, tb := range tabs {
		tb.awaitTrue(`[...document.querySelectorAll('#newest-rows tr')].filter(row => /^New \d+/.test(row.children[2].innerText)).length === 20`)
		tb.awaitTrue(`document.querySelector('#newest-rows tr').children[2].innerText.startsWith('New 19')`)
		tb.await("alice")
		tb.look("newest " + name + " 2 twenty")
		tb.checkQuiet()
	}
	plantstore.Run(t, server.Dir, "plants", "reset")
	for _, tb := range tabs {
		tb.await("Waiting for the next new plant.")
	}
	server.Post(token, `{"id":7,"name":"After the reset"}`)
	tabs[desktop().name].await("After the reset")
	tabs[desktop().name].awaitTrue(`document.querySelectorAll('#newest-rows tr').length === 1`)
}
