package conformance

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
)

var update = flag.Bool("update", false, "rewrite docs/conformance.md")

const leastCases = 250

// A ruleNumber is the number of a rule: C2.10a is 2, 10 and "a".
type ruleNumber struct {
	part, number int
	letter       string
}

// numberOf returns the number of a rule. A rule that is added between two others gets a letter.
func numberOf(t *testing.T, id string) (n ruleNumber) {
	t.Helper()
	found := regexp.MustCompile(`^C([1-5])\.([1-9]\d?)([a-z]?)$`).FindStringSubmatch(id)
	if found == nil {
		t.Fatalf("rule %q: want a number such as C2.10 or C2.10a", id)
	}
	n.part, _ = strconv.Atoi(found[1])
	n.number, _ = strconv.Atoi(found[2])
	n.letter = found[3]
	return n
}

// TestRulesAreInOrder checks that the numbers of the rules ascend, so that no two are the same.
func TestRulesAreInOrder(t *testing.T) {
	t.Parallel()
	rules := Rules()
	for i, r := range rules[1:] {
		last, next := numberOf(t, rules[i].ID), numberOf(t, r.ID)
		if cmp.Or(cmp.Compare(last.part, next.part), cmp.Compare(last.number, next.number), cmp.Compare(last.letter, next.letter)) >= 0 {
			t.Errorf("rule %s comes after %s", r.ID, rules[i].ID)
		}
	}
}

func TestEveryRuleHasCases(t *testing.T) {
	t.Parallel()
	rules := map[string]int{}
	for _, r := range Rules() {
		rules[r.ID] = 0
	}
	cases := Cases()
	for _, c := range cases {
		if _, known := rules[c.Rule]; !known {
			t.Errorf("%q is of the unknown rule %q", c.Name, c.Rule)
		}
		rules[c.Rule]++
	}
	for rule, n := range rules {
		if n == 0 {
			t.Errorf("rule %s has no case", rule)
		}
	}
	if len(cases) < leastCases {
		t.Errorf("%d cases, want at least %d", len(cases), leastCases)
	}
}

func TestCaseNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[[2]string]bool{}
	for _, c := range Cases() {
		key := [2]string{c.Rule, c.Name}
		if seen[key] {
			t.Errorf("%s has two cases %q", c.Rule, c.Name)
		}
		seen[key] = true
	}
}

// TestCasesAreUnique checks that no two cases have the same bytes and the same expected
// response.
func TestCasesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, c := range Cases() {
		if len(c.Exchanges) != 1 || c.Racing > 0 || len(c.Exchanges[0].Send) > 1 || c.Exchanges[0].Send[0].Token != nil {
			continue
		}
		r := c.Exchanges[0].Send[0]
		key := fmt.Sprint(c.Rule, c.Exchanges[0].manner(), c.Exchanges[0].connectionState(), r.Raw, r.Line, r.Header, r.Body, r.Size, r.Chunk)
		if was, known := seen[key]; known {
			t.Errorf("%s: %q and %q send the same", c.Rule, was, c.Name)
		}
		seen[key] = c.Name
	}
}

// names matches a name in double braces.
var names = regexp.MustCompile(`\{\{[a-z][a-z0-9 ]*\}\}`)

// TestTemplatesAreSupported checks the names in double braces: a misspelled name would be sent
// literally.
func TestTemplatesAreSupported(t *testing.T) {
	t.Parallel()
	known := regexp.MustCompile(`\{\{(host|scheme|path|origin|token|jwt|length|id|id2|id3|racer|fill|space)\}\}`)
	for _, c := range Cases() {
		for _, exchange := range c.Exchanges {
			for _, r := range exchange.Send {
				text := strings.Join(append(r.Header, r.Line, r.Body, r.Raw), "\n")
				if left := names.FindString(known.ReplaceAllString(text, "")); left != "" {
					t.Errorf("%s %s: unknown %s", c.Rule, c.Name, left)
				}
			}
		}
	}
}

// TestWriteList checks that the list has each case with its requests and expected responses.
func TestWriteList(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	must.Do(t, WriteList(&b, ""))
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
	if err := WriteList(&b, "C2.12"); err != nil || !strings.Contains(b.String(), "\nC2.12  ") || strings.Contains(b.String(), "\nC2.13  ") {
		t.Errorf("the list of a rule: %v\n%.1000s", err, &b)
	}
}

func TestGeneratedDocument(t *testing.T) {
	t.Parallel()
	const path = "../../docs/conformance.md"
	want := Markdown()
	if *update {
		must.Do(t, os.WriteFile(path, []byte(want), 0o644))
	}
	got := must.Get(os.ReadFile(path))(t)
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/conformance.md is out of date; run make generate:\n%.2000s", diff)
	}
}
