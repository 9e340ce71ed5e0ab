package storage

import "slices"

// A Recorder records the outcomes of creates, as an audit log does. The writer records
// one commit or reset at a time; Ready may be called from any number of goroutines at once.
// None may take longer than some seconds: no create is committed meanwhile.
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

// An Outcome is that of a create.
type Outcome struct {
	ID    int64
	Actor *Actor // nil: the operator
	Err   error  // of the create; nil: the plant was stored
}

// RecordWith has the outcomes of all creates recorded by r, which Close closes. It
// must be called before the first create.
func (s *Store) RecordWith(r Recorder) { s.recorder = r }

// auditReady returns nil unless there is a recorder that is not ready. A panic of the recorder
// is a [FatalError].
func (s *Store) auditReady() error {
	if s.recorder == nil {
		return nil
	}
	return noPanic("audit log", ErrUnavailable, s.recorder.Ready)
}

// audit records the outcomes of creates on behalf of their actors, and changes outcomes to
// what the creates return.
func (s *Store) audit(records []Record, actor func(i int) *Actor, outcomes []error) {
	if s.recorder == nil {
		return
	}
	recorded := make([]Outcome, len(records))
	for i, err := range outcomes {
		recorded[i] = Outcome{ID: records[i].ID, Actor: actor(i), Err: err}
	}
	err := s.stopIfFatal(noPanic("audit log", ErrUnrecorded, func() error { return s.recorder.Record(recorded) }))
	for i, outcome := range outcomes {
		if outcome == nil {
			outcomes[i] = err
		}
	}
}

// repeat returns n times err.
func repeat(err error, n int) []error { return slices.Repeat([]error{err}, n) }
