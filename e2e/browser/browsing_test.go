package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

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
