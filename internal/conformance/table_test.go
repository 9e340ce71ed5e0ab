package conformance

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"plantstore/internal/must"
)

const leastCases = 1000

// TestRulesAreInOrder checks that the numbers of the rules ascend, so that no two are the same. A rule
// that is added between two others gets a letter, such as C2.10a.
func TestRulesAreInOrder(t *testing.T) {
	t.Parallel()
	last := ""
	for _, r := range Rules() {
		number := regexp.MustCompile(`^C([1-5])\.([1-9]\d?)([a-z]?)$`).FindStringSubmatch(r.ID)
		if number == nil {
			t.Fatalf("rule %q: want a number such as C2.10 or C2.10a", r.ID)
		}
		next := fmt.Sprintf("%s.%2s%s", number[1], number[2], number[3])
		if next <= last {
			t.Errorf("rule %s comes after C%s", r.ID, last)
		}
		last = next
	}
}

// names matches a name in double braces.
var names = regexp.MustCompile(`\{\{[a-z][a-z0-9 ]*\}\}`)

// TestTable checks that each rule has cases, that these have names of their own and do not all send the
// same, and that the names in double braces exist: a misspelled one would be sent literally.
func TestTable(t *testing.T) {
	t.Parallel()
	known := regexp.MustCompile(`\{\{(host|scheme|path|origin|token|jwt|length|id|id2|id3|racer|fill|space)\}\}`)
	rules, titles, requests := map[string]int{}, map[string]bool{}, map[string]string{}
	for _, c := range Cases() {
		rules[c.Rule]++
		title := c.Rule + " " + c.Name
		if titles[title] {
			t.Errorf("there are two cases %s", title)
		}
		titles[title] = true
		for _, exchange := range c.Exchanges {
			for _, r := range exchange.Send {
				text := strings.Join(append(r.Header, r.Line, r.Body, r.Raw), "\n")
				if c.Rule == "C2.14" && strings.Contains(r.Body, `"name":""`) {
					t.Errorf("%s: whether an empty name is valid is C2.12", title)
				}
				if left := names.FindString(known.ReplaceAllString(text, "")); left != "" {
					t.Errorf("%s: unknown %s", title, left)
				}
			}
		}
		if len(c.Exchanges) != 1 || c.Racing > 0 || len(c.Exchanges[0].Send) > 1 || c.Exchanges[0].Send[0].Token != nil {
			continue
		}
		r := c.Exchanges[0].Send[0]
		key := fmt.Sprint(c.Rule, c.Exchanges[0].manner(), c.Exchanges[0].connectionState(), r.Raw, r.Line, r.Header, r.Body, r.Size, r.Chunk)
		if was, known := requests[key]; known {
			t.Errorf("%s: %q and %q send the same", c.Rule, was, c.Name)
		}
		requests[key] = c.Name
	}
	for _, r := range Rules() {
		if rules[r.ID] == 0 {
			t.Errorf("rule %s has no case", r.ID)
		}
		delete(rules, r.ID)
	}
	if len(rules) > 0 || len(titles) < leastCases {
		t.Errorf("%d cases, want at least %d; of unknown rules: %v", len(titles), leastCases, rules)
	}
}

// TestWriteList checks that the list has each case with its requests and expected responses.
func TestWriteList(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	must.Do(t, WriteList(&b, nil))
	for _, want := range []string{
		"\nC1.2  Success is 200", "\n  an empty tag is a tag\n    send   {\"id\":{{id}},\"name\":\"fern\",\"tag\":\"\"}\n    expect 200, name fern, tag (empty)\n",
		" [slow]\n", "(same connection)", ", connection closed\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the list lacks %q", want)
		}
	}
	for _, c := range Cases() {
		step := "send   "
		if c.Every != nil {
			step = "check  the responses of all cases\n"
		}
		if !strings.Contains(b.String(), "\n  "+c.Name+c.Needs.brackets()+"\n    "+step) {
			t.Errorf("the list lacks %s %s", c.Rule, c.Name)
		}
	}
	b.Reset()
	if err := WriteList(&b, []string{"C2.12"}); err != nil || !strings.Contains(b.String(), "\nC2.12  ") || strings.Contains(b.String(), "\nC2.13  ") {
		t.Errorf("the list of a rule: %v\n%.1000s", err, &b)
	}
}

// TestDescribedID checks that the valid values of X-Request-Id are those in the description.
func TestDescribedID(t *testing.T) {
	t.Parallel()
	if text := must.Get(os.ReadFile("../apidocs/openapi.yaml"))(t); !strings.Contains(string(text), "pattern: "+saneID.String()+"\n") {
		t.Errorf("the description lacks %v", saneID)
	}
}

func TestGeneratedDocument(t *testing.T) {
	t.Parallel()
	must.Generate(t, "../../docs/conformance.md", Markdown())
}
