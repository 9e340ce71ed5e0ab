package load

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// A Fate is the state of a plant according to the responses so far.
type Fate int

// The fates.
const (
	Doubtful Fate = iota // perhaps stored
	Stored
	Absent
)

// fate returns the state of the plant of a response.
func (r Response) fate() Fate {
	switch r.Outcome() {
	case Created, Identical:
		return Stored
	case Refused:
		return Absent
	}
	return Doubtful
}

// A Ledger records the plants that clients send to a server, and its responses. Each plant has an
// id of its own.
type Ledger struct {
	// Post sends the body of a create.
	Post func(body string) (plantstore.Reply, error)
	// Clock returns the time of an acknowledgement. The default is always 0.
	Clock func() int

	mu      sync.Mutex
	entries map[int64]*Entry
	stored  []int64 // ids of stored plants, as acknowledged
	// contradictions describes the responses that contradict earlier ones, and other violations.
	contradictions []string
}

// An Entry is the state of one plant.
type Entry struct {
	Plant models.Plant
	Fate  Fate
	// At is the time when the plant was acknowledged.
	At int

	last string // response
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger {
	return &Ledger{entries: map[int64]*Entry{}, Clock: func() int { return 0 }}
}

// Create sends a plant, and records the response.
func (l *Ledger) Create(id int64, plant models.Plant) Response {
	reply, err := l.Post(Body(id, plant))
	r := Response{reply, err}
	l.Note(id, plant, r, l.Clock())
	return r
}

// Body returns a plant as a NewPlant.
func Body(id int64, plant models.Plant) string {
	body, _ := json.Marshal(struct { // it cannot fail
		ID   int64   `json:"id"`
		Name string  `json:"name"`
		Tag  *string `json:"tag,omitempty"`
	}{id, plant.Name, plant.Tag})
	return string(body)
}

// Note records a response that arrived at a time.
func (l *Ledger) Note(id int64, plant models.Plant, r Response, at int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := Absent // a plant that was never sent is not stored
	e := l.entries[id]
	if e == nil {
		e = &Entry{Plant: plant}
		l.entries[id] = e
	} else {
		before = e.Fate
	}
	now, why := r.fate(), ""
	switch outcome := r.Outcome(); {
	case outcome == Wrong:
		why = "the contract has no such response"
	case outcome == Different:
		why = "no other client sends plants"
	case outcome == Identical && before == Absent:
		why = "there was no such plant"
	case outcome == Created && before == Stored:
		why = "it was stored already"
	case now == Absent:
		now = before // an earlier create may have stored the plant
	}
	if why != "" {
		l.contradictions = append(l.contradictions, fmt.Sprintf("id %d got %v, but %s (before: %v)", id, r, why, e.last))
	}
	if now == Stored && before != Stored {
		e.At = at
		l.stored = append(l.stored, id)
	}
	e.Fate, e.last = now, r.String()
}

// Object records another violation.
func (l *Ledger) Object(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.contradictions = append(l.contradictions, fmt.Sprintf(format, args...))
}

// Contradictions returns the violations so far.
func (l *Ledger) Contradictions() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.contradictions
}

// Verify sends the stored plants again, from the given one on, by several clients: each must still
// be stored (C5.26). It fails the test on all contradictions so far.
func (l *Ledger) Verify(t testing.TB, from int) {
	t.Helper()
	const clients = 16
	l.mu.Lock()
	ids := slices.Clone(l.stored[from:])
	plants := make([]models.Plant, len(ids))
	for i, id := range ids {
		plants[i] = l.entries[id].Plant
	}
	l.mu.Unlock()
	Each(len(ids), clients, func(i int) {
		if r := l.Create(ids[i], plants[i]); r.Outcome() != Identical {
			t.Errorf("id %d was acknowledged; now: %v", ids[i], r)
		}
	})
	for _, contradiction := range l.Contradictions() {
		t.Error(contradiction)
	}
}

// Len returns the number of stored plants.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.stored)
}

// Of returns the plants with this fate.
func (l *Ledger) Of(f Fate) map[int64]Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	plants := map[int64]Entry{}
	for id, e := range l.entries {
		if e.Fate == f {
			plants[id] = *e
		}
	}
	return plants
}

// Check returns the violations by the plants that were found after a power failure at the time cut.
func (l *Ledger) Check(cut int, found map[int64]models.Plant) (wrong []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, plant := range found {
		switch e := l.entries[id]; {
		case e == nil:
			wrong = append(wrong, fmt.Sprintf("id %d was never sent", id))
		case !e.Plant.Equal(plant):
			wrong = append(wrong, fmt.Sprintf("id %d is not as it was sent", id))
		case e.Fate == Absent:
			wrong = append(wrong, fmt.Sprintf("id %d is there, and got %v", id, e.last))
		}
	}
	for id, e := range l.entries {
		if _, ok := found[id]; !ok && e.Fate == Stored && e.At <= cut {
			wrong = append(wrong, fmt.Sprintf("id %d is lost, which got %v at %d", id, e.last, e.At))
		}
	}
	return wrong
}
