package storage

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"plantstore/models"
)

// An Item is one plant of a batch, and what became of it.
type Item struct {
	Record

	// Existing is set by the engine if the id is taken: the plant that is
	// stored under it. This one is then not stored.
	Existing *models.Plant
	// Err is set by the engine if this plant was not stored for a reason
	// that does not touch the others of the batch. Creates of the same id
	// that came in later get it, too: it is not tried for them again.
	Err error
}

// A CommitFunc stores the plants of a batch, which is sorted by id and has each
// id once. If it returns nil, every item is durable but those in which it has
// set Existing or Err. If it returns an error, none of them is stored, or, if
// the error matches [ErrUnknown], perhaps some. It is called by at most as many
// goroutines at a time as [Limits] says, and must not keep batch, nor what its
// plants point to.
type CommitFunc func(batch []Item) error

// Limits bound what a [GroupCommit] holds. A field that is 0 takes its default.
// A single plant may be larger than the bounds in bytes: it goes alone.
type Limits struct {
	QueuePlants int // plants that wait for a batch; 10,000
	QueueBytes  int // bytes of their names and tags; 64 MiB
	BatchPlants int // plants in one batch; 4,096
	BatchBytes  int // bytes of their names and tags; 16 MiB
	Writers     int // batches that are committed at a time; 1
}

// withDefaults returns l with its zero fields filled in.
func (l Limits) withDefaults() Limits {
	return Limits{
		QueuePlants: cmp.Or(l.QueuePlants, 10_000),
		QueueBytes:  cmp.Or(l.QueueBytes, 64<<20),
		BatchPlants: cmp.Or(l.BatchPlants, 4096),
		BatchBytes:  cmp.Or(l.BatchBytes, 16<<20),
		Writers:     cmp.Or(l.Writers, 1),
	}
}

// stuckAfter is how long a commit may take. It is longer than any that goes well, and
// than the longest time-out of an engine on another machine, which is a minute.
const stuckAfter = 90 * time.Second

// A GroupCommit turns racing creates into batches: while one batch is being
// committed the next one queues up, so that many creates share the cost of one
// commit and none waits for company. With several writers, so many batches are
// under way at once, which may have ids in common. It gives the [Store] methods
// Create, CreateAll, Ready and Close their meaning; the engine brings the commit.
type GroupCommit struct {
	commit  CommitFunc
	limits  Limits
	pool    sync.Pool // of *request, each with an empty channel
	writers sync.WaitGroup
	busy    []atomic.Pointer[time.Time] // when each writer began its commit; nil while it has none
	stopped chan struct{}               // closed by Stop
	bulk    chan struct{}               // holds a token while a batch of CreateAll is queued
	meter   groupMeter

	mu      sync.Mutex
	work    sync.Cond // the queue is no longer empty, or closing has begun
	queue   []*request
	bytes   int   // of the plants in queue
	closing bool  // the writers end when the queue is empty
	refusal error // what creates get; nil while they are accepted
}

// A request is a create on its way, or a batch of them. GroupCommit.mu guards
// taken and withdrawn; the rest belongs to a writer from when it has taken the
// request until the outcome is in done, and to the caller before and after.
type request struct {
	Record

	tag       string   // what the plant's Tag points to: the caller may leave before the writer
	batch     []Record // if it is one of CreateAll: it takes the place of Record
	outcomes  []error  // of the batch, if done says nil
	size      int
	taken     bool       // the writer has it: the outcome will come through done
	withdrawn bool       // the caller has gone; it only keeps its place in the queue
	done      chan error // holds one, so that the writer never waits
}

// NewGroupCommit starts a GroupCommit, whose writers run until Close.
func NewGroupCommit(commit CommitFunc, limits Limits) *GroupCommit {
	g := &GroupCommit{
		commit: commit, limits: limits.withDefaults(),
		stopped: make(chan struct{}), bulk: make(chan struct{}, 1), meter: newGroupMeter(),
	}
	g.work.L = &g.mu
	g.busy = make([]atomic.Pointer[time.Time], g.limits.Writers)
	for i := range g.busy {
		g.writers.Go(func() { g.write(&g.busy[i]) })
	}
	return g
}

// ReadOnly returns the GroupCommit of a store that was opened to be looked at: it
// commits nothing, and refuses every create with [ErrUnavailable].
func ReadOnly() *GroupCommit {
	g := &GroupCommit{
		limits: Limits{}.withDefaults(), stopped: make(chan struct{}), bulk: make(chan struct{}, 1), meter: newGroupMeter(),
	}
	g.refusal = fmt.Errorf("%w: it is open for reading only", ErrUnavailable)
	return g
}

// Create is [Store.Create].
func (g *GroupCommit) Create(ctx context.Context, id int64, plant models.Plant) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrOverloaded, err)
	}
	r, err := g.enqueue(id, plant)
	if err != nil {
		return err
	}
	select {
	case err := <-r.done:
		// The outcome is the last that the writer has to do with r. One that
		// is withdrawn, or left to the writer, never gets here.
		*r = request{done: r.done}
		g.pool.Put(r)
		return err
	case <-ctx.Done():
		return g.withdraw(r, ctx.Err())
	}
}

// enqueue puts a plant into the queue, or says why not.
func (g *GroupCommit) enqueue(id int64, plant models.Plant) (*request, error) {
	size := sizeOf(plant)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refusal != nil {
		return nil, g.refusal
	}
	if len(g.queue) >= g.limits.QueuePlants || (g.bytes > 0 && g.bytes+size > g.limits.QueueBytes) {
		return nil, fmt.Errorf("%w: %d plants of %d bytes are queued", ErrOverloaded, len(g.queue), g.bytes)
	}
	r, ok := g.pool.Get().(*request)
	if !ok { // the pool is empty
		r = &request{done: make(chan error, 1)}
	}
	r.Record, r.size = Record{ID: id, Plant: plant}, size
	if plant.Tag != nil {
		r.tag = *plant.Tag
		r.Plant.Tag = &r.tag
	}
	g.queue = append(g.queue, r)
	g.bytes += size
	g.work.Signal()
	return r, nil
}

// withdraw ends a create whose context has ended. It is too late to say that
// the plant was not stored once the writer has it; an outcome that is there
// already says more than ErrUnknown.
func (g *GroupCommit) withdraw(r *request, cause error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !r.taken {
		r.withdrawn = true
		r.Plant, r.batch = models.Plant{}, nil // nobody looks at them any more
		g.bytes -= r.size
		return fmt.Errorf("%w: %w", ErrOverloaded, cause)
	}
	select {
	case err := <-r.done:
		return err
	default:
		return fmt.Errorf("%w: %w", ErrUnknown, cause)
	}
}

// write commits batches until there is nothing more to come, and says since when
// it is at one.
func (g *GroupCommit) write(busy *atomic.Pointer[time.Time]) {
	for batch := g.take(nil); len(batch) > 0; batch = g.take(batch) {
		began := time.Now()
		busy.Store(&began)
		g.settle(batch)
		busy.Store(nil)
	}
}

// take waits for work and returns the next batch in the order of arrival, in
// the memory of the last one. An empty batch means that closing is done.
func (g *GroupCommit) take(batch []*request) []*request {
	clear(batch)
	batch = batch[:0]
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(batch) == 0 {
		for len(g.queue) == 0 && !g.closing {
			g.work.Wait()
		}
		if len(g.queue) == 0 {
			break
		}
		g.gather()
		batch = g.dequeue(batch)
	}
	return batch
}

// gather lets goroutines that are ready to run go first, for as long as they bring
// more plants and the batch is not full. On idle processors it takes no time; on
// busy ones it makes batches larger, and so the work less. The caller holds g.mu.
func (g *GroupCommit) gather() {
	for queued := 0; queued < len(g.queue) && len(g.queue) < g.limits.BatchPlants; {
		queued = len(g.queue)
		g.mu.Unlock()
		runtime.Gosched()
		g.mu.Lock()
	}
}

// dequeue moves the head of the queue to batch, as far as the bounds allow, and
// drops what was withdrawn. The caller holds g.mu.
func (g *GroupCommit) dequeue(batch []*request) []*request {
	n, bytes := 0, 0
	for _, r := range g.queue {
		full := len(batch) == g.limits.BatchPlants || bytes+r.size > g.limits.BatchBytes
		if !r.withdrawn && full && len(batch) > 0 {
			break
		}
		n++
		if r.withdrawn {
			continue
		}
		r.taken = true
		bytes += r.size
		batch = append(batch, r)
	}
	g.queue = slices.Delete(g.queue, 0, n)
	g.bytes -= bytes
	return batch
}

// settle commits a batch and tells each create its outcome.
func (g *GroupCommit) settle(batch []*request) {
	if r := batch[0]; r.batch != nil { // it goes alone
		r.outcomes = g.commitAll(r.batch)
		r.done <- nil
		return
	}
	records := make([]Record, len(batch))
	for i, r := range batch {
		records[i] = r.Record
	}
	// Once it has its outcome the request belongs to its caller again.
	for i, outcome := range g.commitAll(records) {
		batch[i].done <- outcome
	}
}

// commitAll commits records, in any order of their ids, and returns the outcome
// of each. Of those with the same id the first is tried; it decides what the
// others get.
func (g *GroupCommit) commitAll(records []Record) []error {
	order := make([]int, len(records))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(records[a].ID, records[b].ID) })
	items := make([]Item, 0, len(records))
	for _, i := range order {
		if n := len(items); n == 0 || items[n-1].ID != records[i].ID {
			items = append(items, Item{Record: records[i]})
		}
	}
	start := time.Now()
	err := g.try(items)
	g.meter.committed(items, start, err)
	outcomes, tried := make([]error, len(records)), -1
	for _, i := range order {
		first := tried < 0 || items[tried].ID != records[i].ID
		if first {
			tried++
		}
		outcomes[i] = items[tried].outcome(records[i].Plant, first, err)
	}
	return outcomes
}

// try calls the engine. After a panic nobody knows what it has done, nor what
// it would do next.
func (g *GroupCommit) try(items []Item) (err error) {
	defer func() {
		if p := recover(); p != nil {
			g.Stop(fmt.Errorf("the engine panicked: %v", p))
			err = fmt.Errorf("%w: the engine panicked: %v\n%s", ErrUnknown, p, debug.Stack())
		}
	}()
	return g.commit(items)
}

// outcome says what a create of plant gets after the commit of its id returned
// err: the create that was tried, if first, or one that came later.
func (i *Item) outcome(plant models.Plant, first bool, err error) error {
	switch {
	case i.Err != nil:
		return i.Err
	case i.Existing != nil: // Of an earlier commit, whatever became of this one.
		return &ExistsError{Identical: i.Existing.Equal(plant)}
	case err != nil:
		return err
	case !first:
		return &ExistsError{Identical: i.Plant.Equal(plant)}
	}
	return nil
}

// Stop ends the store after a fault that cause describes: creates that are
// queued, and all that come later, get [ErrUnavailable]. Those in a batch get
// what its commit returns. An engine may call Stop at any time, also from its
// CommitFunc; the first cause stays.
func (g *GroupCommit) Stop(cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.stopped:
	default:
		close(g.stopped)
	}
	if g.refusal == nil || g.closing {
		// In words only: the refusal must not match what the cause does.
		g.refusal = fmt.Errorf("%w: it stopped after a fault: %s", ErrUnavailable, cause.Error())
	}
	for _, r := range g.queue {
		if !r.withdrawn {
			r.taken = true
			r.done <- g.refusal
		}
	}
	g.queue, g.bytes = nil, 0
}

// Stopped is [Store.Stopped].
func (g *GroupCommit) Stopped() <-chan struct{} { return g.stopped }

// Ready is [Store.Ready].
func (g *GroupCommit) Ready() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refusal != nil {
		return g.refusal
	}
	for i := range g.busy {
		if began := g.busy[i].Load(); began != nil && time.Since(*began) > stuckAfter {
			return fmt.Errorf("%w: %w: one has gone on for %v", ErrUnavailable, ErrStuck, time.Since(*began).Round(time.Second))
		}
	}
	return nil
}

// Close refuses new creates, commits those that are queued and waits for it.
// Closing again waits, too, and does no more.
func (g *GroupCommit) Close() {
	g.mu.Lock()
	g.closing = true
	if g.refusal == nil {
		g.refusal = fmt.Errorf("%w: it is closed", ErrUnavailable)
	}
	g.work.Broadcast()
	g.mu.Unlock()
	g.writers.Wait()
}
