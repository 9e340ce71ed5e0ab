package browse

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// samplePause is the minimum time between two counts, and idleFactor the minimum ratio of
	// that time to the duration of the last count: some engines read all plants.
	samplePause = 900 * time.Millisecond
	idleFactor  = 20
	// countTime limits the duration of a count.
	countTime = time.Minute
	// countWait is the maximum time that a response waits for a count.
	countWait = 300 * time.Millisecond
	// history is the time for which samples are kept.
	history = 2 * time.Minute
)

// A sample is a count with its age in milliseconds: the page may have another clock.
type sample struct {
	Age    int64 `json:"age"` // when it is sent
	Plants int64 `json:"plants"`

	at time.Time
}

// A sampler counts the plants when the page requests it, not too often.
type sampler struct {
	count func(ctx context.Context) (int64, Source, error)
	ctx   context.Context //nolint:containedctx // of all counts: one may outlive its request

	mu      sync.Mutex
	samples []sample
	source  Source
	err     error         // result of the last count
	due     time.Time     // earliest time of the next count
	running chan struct{} // closed when the count in progress has ended
	counts  sync.WaitGroup
}

// A status is the state of the store.
type status struct {
	Place  string `json:"place"`
	Source Source `json:"source,omitzero"` // of the last successful count
	// Samples are the counts of the last minutes, the newest last.
	Samples []sample `json:"samples"`
	// Error is the error of the last count.
	Error string `json:"error,omitzero"`
}

// get returns the status, after a count if one is due and fast.
func (s *sampler) get(ctx context.Context) status {
	if running := s.start(); running != nil {
		select {
		case <-running:
		case <-time.After(countWait):
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	result := status{Source: s.source}
	if s.err != nil {
		_, result.Error = problem(s.err)
	}
	for _, sample := range s.samples {
		sample.Age = time.Since(sample.at).Milliseconds()
		result.Samples = append(result.Samples, sample)
	}
	return result
}

// start starts a count if one is due. It returns a channel that is closed when the count in
// progress has ended, nil if there is none.
func (s *sampler) start() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil && !time.Now().Before(s.due) {
		s.running = make(chan struct{})
		s.counts.Go(s.take)
	}
	return s.running
}

func (s *sampler) take() {
	ctx, cancel := context.WithTimeout(s.ctx, countTime)
	defer cancel()
	began := time.Now()
	plants, source, err := s.count(ctx)
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err = err; err == nil {
		s.source = source
		s.samples = append(s.samples, sample{Plants: plants, at: now})
	}
	for len(s.samples) > 1 && now.Sub(s.samples[1].at) > history {
		s.samples = s.samples[1:]
	}
	s.due = began.Add(samplePause)
	if err == nil || errors.Is(err, context.DeadlineExceeded) { // otherwise the count has not read the plants
		s.due = began.Add(max(samplePause, idleFactor*now.Sub(began)))
	}
	close(s.running)
	s.running = nil
}
