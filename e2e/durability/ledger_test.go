package durability

import (
	"fmt"
	"sync"

	"plantstore/models"
)

// A fate is the state of a plant according to the responses so far.
type fate int

const (
	unknown fate = iota // perhaps stored
	stored              // according to the server
	absent              // according to the server
)

// A ledger records the requests to a server and its responses.
type ledger struct {
	mu      sync.Mutex
	entries map[int64]*entry
	// contradictions describes the responses that contradict earlier ones, and other violations.
	contradictions []string
}

// An entry is the state of one plant.
type entry struct {
	plant models.Plant
	fate  fate
	// position is the length of the log when the plant was acknowledged.
	position int
	reply    reply
}

func newLedger() *ledger { return &ledger{entries: map[int64]*entry{}} }

// note records a response that arrived when the log had the length position.
func (l *ledger) note(id int64, plant models.Plant, a reply, position int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := absent // a plant that was never sent is not stored
	e := l.entries[id]
	if e == nil {
		e = &entry{plant: plant}
		l.entries[id] = e
	} else {
		before = e.fate
	}
	now := a.fate()
	switch {
	case a.fault() != "":
		l.contradict(id, e, a, a.fault())
	case a.code == conflict && before == absent:
		l.contradict(id, e, a, "there was no such plant")
	case a.status == ok && before == stored:
		l.contradict(id, e, a, "it was stored already")
	case now == absent && before != absent:
		// An earlier create may have stored the plant.
		now = before
	}
	if now == stored && before != stored {
		e.position = position
	}
	e.fate, e.reply = now, a
}

func (l *ledger) contradict(id int64, e *entry, a reply, why string) {
	l.contradictions = append(l.contradictions, fmt.Sprintf("id %d got %v, but %s (before: %v)", id, a, why, e.reply))
}

// object records another violation.
func (l *ledger) object(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.contradictions = append(l.contradictions, fmt.Sprintf(format, args...))
}

// of returns the plants with this fate.
func (l *ledger) of(f fate) map[int64]models.Plant {
	l.mu.Lock()
	defer l.mu.Unlock()
	plants := map[int64]models.Plant{}
	for id, e := range l.entries {
		if e.fate == f {
			plants[id] = e.plant
		}
	}
	return plants
}

// check returns the violations by the plants that were found after a power failure when the log
// had the length cut.
func (l *ledger) check(cut int, found map[int64]models.Plant) (wrong []string) {
	for id, plant := range found {
		switch e := l.entries[id]; {
		case e == nil:
			wrong = append(wrong, fmt.Sprintf("id %d was never sent", id))
		case !e.plant.Equal(plant):
			wrong = append(wrong, fmt.Sprintf("id %d is not as it was sent", id))
		case e.fate == absent:
			wrong = append(wrong, fmt.Sprintf("id %d is there, and got %v", id, e.reply))
		}
	}
	for id, e := range l.entries {
		if _, ok := found[id]; !ok && e.fate == stored && e.position <= cut {
			wrong = append(wrong, fmt.Sprintf("id %d is lost, which got %v when the log had length %d", id, e.reply, e.position))
		}
	}
	return wrong
}
