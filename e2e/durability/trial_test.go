package durability

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/load"
)

const (
	// enough is a sufficient number of violations for a diagnosis.
	enough = 5
	// sampling is the number of images of which one is opened by the real program, too.
	sampling = 200
)

// A trial cuts the power at points of the log of a site, and inspects the remaining files.
type trial struct {
	*site

	written  []byte // the secret
	ready    int    // length of the log from which on the secret must exist
	variants int    // number of images at each point
	cuts     []int  // lengths of the log at which the power is cut, ascending
}

func (s *site) trial(ready, variants int, cuts []int) *trial {
	s.t.Helper()
	return &trial{s, s.secret(), ready, variants, cuts}
}

// A result is the result of a trial.
type result struct {
	images     int // that were opened
	violations []string
	samples    []cut // images that the real program opens
}

// A cut is one image.
type cut struct {
	point    int
	survival faultfs.Survival
	variant  int
	image    faultfs.Image
}

func (c cut) String() string {
	return fmt.Sprintf("cut after operation %d, %s survives, variant %d", c.point, c.survival, c.variant)
}

// run makes the images and opens them, until there are enough violations. If the responses have some,
// it makes none.
func (tr *trial) run(t testing.TB, idle openers) (r result) {
	t.Helper()
	if r.violations = tr.Contradictions(); len(r.violations) > 0 {
		return r
	}
	cuts := tr.generate()
	var mu sync.Mutex
	load.Each(len(cuts), cap(idle), func(i int) {
		mu.Lock()
		ended := len(r.violations) >= enough
		mu.Unlock()
		if ended {
			return
		}
		wrong := tr.check(idle, cuts[i], i%4 == 0)
		mu.Lock()
		defer mu.Unlock()
		r.images++
		if i%sampling == 0 {
			r.samples = append(r.samples, cuts[i])
		}
		if len(wrong) == 0 {
			return
		}
		if len(r.violations) == 0 {
			dir := t.ArtifactDir()
			_ = cuts[i].image.Write(dir) // the violation is more important than this error
			t.Logf("%v: the image is in %s (go test -artifacts keeps it)", cuts[i], dir)
		}
		r.violations = append(r.violations, fmt.Sprintf("%v:\n\t%s", cuts[i], strings.Join(wrong[:min(len(wrong), enough)], "\n\t")))
	})
	return r
}

// generate returns the images. An image that is possible at several points is there once, for the
// last of them: then most plants were acknowledged.
func (tr *trial) generate() (cuts []cut) {
	survivals := []faultfs.Survival{faultfs.None, faultfs.All, faultfs.Random} // with random survival for all others
	replay, hash, seen := faultfs.NewReplay(tr.fs.Log()), maphash.MakeSeed(), map[uint64]int{}
	for _, point := range tr.cuts {
		replay.To(point)
		for variant := range tr.variants {
			c := cut{point: point, variant: variant, survival: survivals[min(variant, len(survivals)-1)]}
			c.image = replay.Image(c.survival, tr.seed<<16+uint64(variant))
			sum := c.image.Sum(hash)
			if i, found := seen[sum]; found {
				cuts[i] = c
				continue
			}
			seen[sum] = len(cuts)
			cuts = append(cuts, c)
		}
	}
	return cuts
}

// check opens an image and returns its faults.
func (tr *trial) check(idle openers, c cut, sampled bool) (wrong []string) {
	secret, found := c.image.Find(secretFile)
	switch {
	case found && !bytes.Equal(secret.Data(), tr.written):
		wrong = append(wrong, fmt.Sprintf("the secret is corrupt: %d bytes of %d", secret.Size, len(tr.written)))
	case !found && c.point >= tr.ready:
		wrong = append(wrong, "the secret is lost, which was in use")
	}
	v := idle.open(c.image, sampled)
	if v.Error != "" {
		return append(wrong, v.Error)
	}
	return append(wrong, tr.Check(c.point, v.Plants)...)
}

// every returns the numbers from from to to, both included.
func every(from, to int) []int {
	var numbers []int
	for n := from; n <= to; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// thin returns at most n of the numbers: the first half of n, and others at equal distances.
func thin(numbers []int, n int) []int {
	if len(numbers) <= n {
		return numbers
	}
	kept := slices.Clone(numbers[:n/2])
	rest := numbers[n/2:]
	for i := 1; i <= n-n/2; i++ {
		kept = append(kept, rest[i*len(rest)/(n-n/2)-1])
	}
	return kept
}
