package browser

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestBrowseTrouble checks that the page can be used without a mouse, and describes its contents to
// screen readers, that it shows a corrupt record, and a database that another process uses, and recovers
// by itself.
func TestBrowseTrouble(t *testing.T) {
	server := plantstore.Start(t, plantstore.Options{})
	importPlants(t, server, 120, samplePlant)
	tb := newTab(t, desktop())
	tb.do(chromedp.Navigate(plantstore.Browse(t, server.Dir).Link))
	tb.first("1")
	tb.awaitTrue(`!document.getElementById('view-newest').hidden`)
	tb.click(`a[href="#all"]`)
	tb.awaitTrue(`!document.getElementById('view-all').hidden`)
	const active = `document.activeElement.id || document.activeElement.textContent`
	var order []string
	for range 11 {
		tb.do(chromedp.KeyEvent("\t"))
		order = append(order, evaluate[string](tb, active))
	}
	if want := []string{"Newest", "By id", "live", "id", "Go", "name", "Search", "first", "previous", "next", "last"}; !slices.Equal(order, want) {
		t.Errorf("Tab moves the focus to %q, want %q", order, want)
	}
	tb.do(chromedp.KeyEvent("\t", chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent("\r"))
	tb.first("51")
	tb.awaitTrue(`document.querySelector('[role=status]').textContent === '50 plants. Ids 51 to 100'`)
	tb.do(chromedp.KeyEvent("\r"))
	tb.first("101")
	if got := evaluate[string](tb, active); got != "next" {
		t.Errorf("on the last page the focus is on %q", got)
	}
	tb.do(chromedp.KeyEvent("\r")) // there is no next page
	tb.do(chromedp.Focus(chromedp.CSS("#live")), chromedp.KeyEvent(" "))
	tb.awaitTrue(`document.getElementById('live').getAttribute('aria-checked') === 'false'`)
	server.Post(server.Token(), `{"id":121,"name":"Not shown"}`)
	tb.await("121\n")
	if tb.number("#rows tr") != 20 {
		t.Errorf("%d plants are shown", tb.number("tbody tr"))
	}
	tb.do(chromedp.KeyEvent(" "))
	tb.await("Not shown")

	server.Stop()
	path := filepath.Join(server.Dir, "data", "plants.db")
	contents := must.Get(os.ReadFile(path))(t)
	must.Do(t, os.WriteFile(path, bytes.ReplaceAll(contents, []byte(`"Aloe 90"`), []byte(`"Aloe 9x"`)), 0o600))
	tb.do(chromedp.Reload()) // without the new plant on the first page
	tb.first("1")
	tb.press("Next")
	tb.await("The plant with the id 90 cannot be read: the database is corrupt: id 90: wrong checksum.")
	tb.press("Next")
	tb.first("91")
	tb.press("Previous")
	tb.await("The plant with the id 90 cannot be read")
	tb.look("browse corrupt")
	tb.enter("#name", "Aloe")
	tb.await("Searched 120 of 121 plants: 14 found. That is the end.")
	tb.await("The plant with the id 90 cannot be read")
	tb.press("All plants")
	tb.first("1")

	file := must.Get(os.Open(path))(t)
	defer func() { _ = file.Close() }()
	must.Do(t, syscall.Flock(int(file.Fd()), syscall.LOCK_EX))
	tb.await("database data/plants.db is locked by another process")
	tb.awaitTrue(`document.getElementById('live').innerText === 'Offline'`)
	tb.look("browse locked")
	must.Do(t, syscall.Flock(int(file.Fd()), syscall.LOCK_UN))
	tb.awaitTrue(`document.getElementById('problem').hidden && document.getElementById('live').innerText === 'Live'`)
}
