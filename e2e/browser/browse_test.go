package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestBrowseMany checks that the page shows plants only with the key of its link, that 200,000 plants can
// be paged through in both directions and searched, and that the page shows a new plant, and a server
// that stops and starts.
func TestBrowseMany(t *testing.T) {
	const plants = 200_000
	server := plantstore.Start(t, plantstore.Options{})
	token := server.Token()
	importPlants(t, server, plants, func(i int) map[string]any {
		if i == 177_777-1 {
			return map[string]any{"id": i + 1, "name": "Quaking grass", "tag": "grass"}
		}
		return samplePlant(i)
	})
	browsing := plantstore.Browse(t, server.Dir)
	tb := newTab(t, desktop())
	tb.enterByKey(browsing.Link)
	tb.await("200,000\n")
	tb.await("read from the running server")
	tb.click(`a[href="#all"]`)
	tb.pageThroughMany()
	tb.searchMany()
	tb.press("All plants")
	tb.first("1")

	server.Post(token, `{"id":0,"name":"On the first page"}`)
	tb.first("0")
	tb.await("200,001\n")
	if tb.number("tr.fresh") != 1 || tb.number("#chart rect") == 0 {
		t.Errorf("%d rows are marked as new, and the chart has %d bars", tb.number("tr.fresh"), tb.number("#chart rect"))
	}
	tb.click(`a[href="#newest"]`)
	tb.newest("0")
	importPlants(t, server, 500, func(i int) map[string]any { return map[string]any{"id": 2_000_000 + i, "name": "Many"} })
	tb.newest("2000499") // the last of more than the page shows
	server.Stop()
	tb.await("read from the file: no server runs")
	tb.press("Next") // the view by id, since only a server keeps its last creates
	tb.first("50")
	again := plantstore.Start(t, plantstore.Options{Dir: server.Dir})
	tb.await("read from the running server")
	again.Post(token, `{"id":3000000,"name":"After the restart"}`)
	tb.newest("3000000")
	for _, problem := range tb.found() { // a wrong key, 0x10, and creates while no server runs
		if !strings.Contains(problem, "status of 400") {
			t.Errorf("the browser reports %q", problem)
		}
	}
	browsing.Stop()
	tb.await("The command plantstore plants browse has ended.")
	tb.look("browse ended")
	if got := tb.number("#newest-rows tr"); got == 0 {
		t.Errorf("%d rows are left", got)
	}
	base, key, _ := strings.Cut(browsing.Link, "/#key=")
	tb.mu.Lock()
	defer tb.mu.Unlock()
	for _, url := range tb.urls {
		if strings.Contains(url, key) || !strings.HasPrefix(url, base+"/") {
			t.Errorf("requested %s", url)
		}
	}
}

// enterByKey checks that the page takes the key from the address bar, and keeps it for a reload of this
// tab only.
func (tb *tab) enterByKey(link string) {
	tb.t.Helper()
	const missing = "This page needs the link that plantstore plants browse has printed"
	base, _, _ := strings.Cut(link, "#")
	tb.do(chromedp.Navigate(base))
	tb.await(missing)
	tb.do(chromedp.Navigate(base + "#key=wrong"))
	tb.await("the key is missing or wrong")
	tb.do(chromedp.Navigate(link)) // a change of the fragment does not load the document again
	tb.first("1")
	if got := evaluate[string](tb, "location.href"); got != base {
		tb.t.Errorf("the address bar shows %s", got)
	}
	tb.do(chromedp.Reload())
	tb.first("1")
	other := tb.another()
	other.do(chromedp.Navigate(base))
	other.await(missing)
}

// pageThroughMany pages through plants with the ids 1 to 200,000, and jumps to ids.
func (tb *tab) pageThroughMany() {
	tb.t.Helper()
	for _, step := range []struct{ button, first, pages string }{
		{"Next", "51", "Ids 51 to 100"},
		{"Next", "101", "Ids 101 to 150"},
		{"Previous", "51", "Ids 51 to 100"},
		{"Last", "199951", "Ids 199951 to 200000"},
		{"Previous", "199901", "Ids 199901 to 199950"},
		{"Next", "199951", "Ids 199951 to 200000"},
		{"First", "1", "Ids 1 to 50"},
	} {
		tb.press(step.button)
		tb.first(step.first)
		tb.await(step.pages)
	}
	tb.enter("#id", "100000")
	tb.first("100000")
	tb.press("Next")
	tb.await("Ids 100050 to 100099")
	tb.enter("#id", "20")
	tb.first("20")
	tb.press("Previous") // reaches the start
	tb.await("Ids 1 to 50")
	tb.enter("#id", "0x10")
	tb.await(`"0x10" is not an id: must be an integer of 64 bits`)
	tb.enter("#id", "-7")
	tb.await("No plant has the id -7.")
}

// searchMany searches for the unique name of plant 177777, and for Aloe, the name of every
// eighth plant.
func (tb *tab) searchMany() {
	tb.t.Helper()
	tb.enter("#name", "quaking")
	tb.await("Searched 200,000 of 200,000 plants: 1 found. That is the end.")
	tb.first("177777")
	tb.enter("#name", "ALOE")
	tb.await("50 found. It goes on from id 395.")
	tb.press("Next")
	tb.first("402")
	tb.await(": 50 found")
	tb.press("Previous")
	tb.first("2")
	tb.press("Next")
	tb.first("402")
	tb.press("Last")
	tb.await("from the last one down: 50 found")
	tb.first("199602")
	tb.press("First")
	tb.first("2")
	tb.enter("#id", "3")
	tb.first("3")
	if got := evaluate[string](tb, "document.getElementById('name').value"); got != "" {
		tb.t.Errorf("all plants are shown, and the field of the search has %q", got)
	}
	tb.enter("#name", "ALOE")
	tb.first("2")
}

// TestBrowseLooks checks that the page fits its window in each view, before and while plants are
// created.
func TestBrowseLooks(t *testing.T) {
	server := plantstore.Start(t, plantstore.Options{})
	token := server.Token()
	importPlants(t, server, 3000, samplePlant)
	server.Post(token, `{"id":-9223372036854775808,"name":"The lowest id","tag":"tree"}`)
	id := 9_223_372_036_854_770_000
	for _, v := range []view{desktop(), phone()} {
		t.Run(v.name, func(t *testing.T) {
			tb := newTab(t, v)
			tb.do(chromedp.Navigate(plantstore.Browse(t, server.Dir).Link))
			tb.awaitTrue(`/\d/.test(document.getElementById('count').textContent)`) // else the first plants may be in the first count
			for bars := range 2 {                                                   // the page counts once a second
				for range 3 + 4*bars {
					id++
					server.Post(token, fmt.Sprintf(`{"id":%d,"name":"%s","tag":"workshop"}`, id, kinds()[id%8]))
				}
				tb.poll(`n => document.querySelectorAll('#chart rect').length > n`, bars)
			}
			tb.look("browse " + v.name + " 1 live")
			tb.click(`a[href="#all"]`)
			tb.press("Last")
			tb.await(" to 9223372036854")
			tb.look("browse " + v.name + " 2 last")
			tb.enter("#name", "Grün")
			tb.await("50 found")
			tb.look("browse " + v.name + " 3 search")
			tb.checkQuiet()
		})
	}
}

// TestBrowseOddNames checks that the page shows names as text, whatever they contain.
func TestBrowseOddNames(t *testing.T) {
	server := plantstore.Start(t, plantstore.Options{Env: []string{"MAX_BODY_BYTES=3000000"}})
	names := []string{
		`<img src=x onerror="document.title='run'"><script>document.title='run'</script>`,
		"\u202egpj.exe\u2066", "a\x00b\x1b[31m\r\nc", "", strings.Repeat("x", 1<<20), strings.Repeat("\u0301", 10_000),
		"\u061c\u200f\ufeff\u2028", "👩\u200d🌾 植物", `\u202e`, "&lt;b&gt;", strings.Repeat("long ", 40),
	}
	importPlants(t, server, len(names), func(i int) map[string]any { return map[string]any{"id": i, "name": names[i], "tag": names[i]} })
	tb := newTab(t, phone())
	tb.do(chromedp.Navigate(plantstore.Browse(t, server.Dir).Link))
	tb.awaitTrue("document.querySelectorAll('#newest-rows tr').length === 11")
	tb.look("newest odd names")
	tb.click(`a[href="#all"]`)
	tb.awaitTrue("document.querySelectorAll('#rows tr').length === 11")
	tb.look("browse odd names")
	if n := tb.number("tbody img, tbody script, tbody b"); n != 0 {
		t.Errorf("%d elements come from names", n)
	}
	for i, want := range map[int]string{
		0: names[0],
		1: "U+202Egpj.exeU+2066",
		2: "aU+0000bU+001B[31mU+000DU+000Ac",
		3: "empty",
		4: strings.Repeat("x", 200) + "… 1,048,576 bytes in all",
		5: strings.Repeat("\u0301", 200) + "… 20,000 bytes in all",
		6: "U+061CU+200FU+FEFFU+2028",
		7: names[7],
		8: names[8],
		9: names[9],
	} {
		for column := 1; column <= 2; column++ {
			got := evaluate[string](tb, fmt.Sprintf(`document.querySelector('#rows tr[data-id="%d"]').children[%d].textContent`, i, column))
			if got != want {
				t.Errorf("id %d, column %d: %q, want %q", i, column, got, want)
			}
		}
	}
	tb.checkQuiet()
}

// importPlants imports plants while the server runs.
func importPlants(t *testing.T, server *plantstore.Server, n int, plant func(i int) map[string]any) {
	t.Helper()
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range n {
		must.Do(t, encoder.Encode(plant(i)))
	}
	cmd := plantstore.Command(t, server.Dir, []string{"MAX_BODY_BYTES=3000000"}, "plants", "import", "--quiet", "-")
	cmd.Stdin = &lines
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}
}

// kinds are the names of plants.
func kinds() []string {
	return []string{"Monstera", "Aloe", "Ficus", "Grünlilie", "Philodendron", "Begonia", "Dracaena", "Hedera"}
}

// samplePlant returns a plant with the id i+1.
func samplePlant(i int) map[string]any {
	p := map[string]any{"id": i + 1, "name": fmt.Sprintf("%s %d", kinds()[i%len(kinds())], i+1)}
	if tags := []string{"climber", "succulent", "tree", "grass", "hanging", "", ""}; tags[i%len(tags)] != "" {
		p["tag"] = tags[i%len(tags)]
	}
	return p
}

// first waits until the first row by id shows that id.
func (tb *tab) first(id string) {
	tb.t.Helper()
	tb.awaitTrue(fmt.Sprintf("document.querySelector('#rows tr')?.dataset.id === %q", id))
}

// newest waits until the first of the newest rows shows that id.
func (tb *tab) newest(id string) {
	tb.t.Helper()
	tb.awaitTrue(fmt.Sprintf("document.querySelector('#newest-rows tr')?.dataset.id === %q", id))
}

// number returns the number of elements that match a selector.
func (tb *tab) number(selector string) int {
	tb.t.Helper()
	return evaluate[int](tb, fmt.Sprintf("document.querySelectorAll(%q).length", selector))
}

// enter types text into a field and presses Enter.
func (tb *tab) enter(field chromedp.CSS, text string) {
	tb.t.Helper()
	tb.paste(field, text)
	tb.do(chromedp.KeyEvent("\r"))
}
