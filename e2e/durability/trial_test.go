package durability

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/load"
	"plantstore/internal/must"
)

const (
	// enough is a sufficient number of violations for a diagnosis.
	enough = 5
	// sampling is the number of images of which one is opened by the real program, too.
	sampling = 200
)

// A trial cuts the power at points of a log, and inspects the remaining files.
type trial struct {
	seed   uint64
	log    []faultfs.Op
	ledger *load.Ledger
	secret []byte
	// ready is the length of the log from which on the secret must exist.
	ready int
	// cuts are the lengths of the log at which the power is cut, ascending.
	cuts []int
	// variants is the number of images at each point.
	variants int
}

// newTrial returns a trial of the log of a site.
func newTrial(t testing.TB, s *site, seed uint64, ready int) *trial {
	t.Helper()
	secret := must.Get(s.fs.ReadFile(secretFile))(t)
	return &trial{seed: seed, log: s.fs.Log(), ledger: s.Ledger, secret: secret, ready: ready}
}

// A result is the result of a trial.
type result struct {
	images     int
	violations []string
	samples    []*cut // images that the real program opens
	worst      *cut   // the first violation
}

// A cut is one image.
type cut struct {
	point    int
	survival faultfs.Survival
	variant  int
	image    faultfs.Image
}

func (c *cut) String() string {
	return fmt.Sprintf("cut after operation %d, %s survives, variant %d", c.point, c.survival, c.variant)
}

// run makes the images and opens them, until there are enough violations.
func (tr *trial) run(t testing.TB, idle openers) (r result) {
	t.Helper()
	cuts := make(chan *cut)
	stop := make(chan struct{})
	go func() {
		defer close(cuts)
		tr.generate(cuts, stop)
	}()
	var mu sync.Mutex
	var all sync.WaitGroup
	for range cap(idle) {
		all.Go(func() {
			for c := range cuts {
				wrong := tr.check(idle, c)
				mu.Lock()
				r.add(c, wrong, stop)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	r.violations = append(r.violations, tr.ledger.Contradictions()...)
	if r.worst != nil {
		dir := t.ArtifactDir()
		_ = r.worst.image.Write(dir) // the violation is more important than this error
		t.Logf("%v: the image is in %s (go test -artifacts keeps it)", r.worst, dir)
	}
	return r
}

// add adds the result of an image. After enough violations it closes stop.
func (r *result) add(c *cut, wrong []string, stop chan struct{}) {
	r.images++
	if r.images%sampling == 1 {
		r.samples = append(r.samples, c)
	}
	if len(wrong) == 0 {
		return
	}
	r.worst = cmp.Or(r.worst, c)
	r.violations = append(r.violations, fmt.Sprintf("%v:\n\t%s", c, strings.Join(wrong[:min(len(wrong), enough)], "\n\t")))
	if len(r.violations) == enough {
		close(stop)
	}
}

// generate sends the images. Identical images of one point are sent once.
func (tr *trial) generate(cuts chan<- *cut, stop <-chan struct{}) {
	survivals := []faultfs.Survival{faultfs.None, faultfs.All, faultfs.Random} // with random survival for all others
	replay := faultfs.NewReplay(tr.log)
	for _, point := range tr.cuts {
		replay.To(point)
		seen := map[[sha256.Size]byte]bool{}
		for variant := range tr.variants {
			c := &cut{point: point, variant: variant, survival: survivals[min(variant, len(survivals)-1)]}
			c.image = replay.Image(c.survival, tr.seed<<16+uint64(variant))
			sum := c.image.Sum()
			if seen[sum] {
				continue
			}
			seen[sum] = true
			select {
			case cuts <- c:
			case <-stop:
				return
			}
		}
	}
}

// check opens an image and returns its faults.
func (tr *trial) check(idle openers, c *cut) (wrong []string) {
	secret, found := c.image.Find(secretFile)
	switch {
	case found && !bytes.Equal(secret.Data, tr.secret):
		wrong = append(wrong, fmt.Sprintf("the secret is corrupt: %d bytes of %d", len(secret.Data), len(tr.secret)))
	case !found && c.point >= tr.ready:
		wrong = append(wrong, "the secret is lost, which was in use")
	}
	v, err := idle.open(c.image, (c.point+c.variant)%4 == 0)
	switch {
	case err != nil:
		return append(wrong, fmt.Sprint("the image was not opened: ", err))
	case v.Error != "":
		return append(wrong, v.Error)
	}
	return append(wrong, tr.ledger.Check(c.point, v.Plants)...)
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
