package storage

// A Recorder records the outcomes of creates, as an audit log does. Its methods may
// be called from any number of goroutines at once. None may take longer than some
// seconds: no create of the same writer is committed meanwhile.
type Recorder interface {
	// Ready returns nil while outcomes can be recorded. Otherwise creates fail with
	// its error.
	Ready() error

	// Record records the outcomes of the creates of one commit, and returns nil when
	// that is done. Its error matches [ErrUnrecorded]; the creates that stored their
	// plants get it.
	Record(outcomes []Outcome) error

	// RecordReset records that all plants were replaced by the seed. Its errors are those of
	// Record.
	RecordReset() error

	// Close ends recording. The store calls it after the last create.
	Close() error
}

// An Outcome is the outcome of one create.
type Outcome struct {
	ID    int64
	Actor *Actor // nil: the operator
	Err   error  // of the create; nil: the plant was stored
}

// RecordWith makes r record the outcomes of all creates. Close closes it. RecordWith must be
// called before the first create.
func (s *Store) RecordWith(r Recorder) { s.recorder = r }

// recorderReady returns nil unless there is a recorder that is not ready.
func (s *Store) recorderReady() error {
	if s.recorder == nil {
		return nil
	}
	return s.guard("audit log", ErrUnavailable, s.recorder.Ready)
}

// recordOutcomes records the outcomes of a batch, and changes them to what the creates return.
func (s *Store) recordOutcomes(batch []*request) {
	if s.recorder == nil {
		return
	}
	var outcomes []Outcome
	for _, r := range batch {
		for i, err := range r.outcomes {
			outcomes = append(outcomes, Outcome{ID: r.records[i].ID, Actor: r.actor, Err: err})
		}
	}
	err := s.guard("audit log", ErrUnrecorded, func() error { return s.recorder.Record(outcomes) })
	for _, r := range batch {
		for i, outcome := range r.outcomes {
			if outcome == nil {
				r.outcomes[i] = err
			}
		}
	}
}
