package bbolt

import (
	"context"
	"errors"
	"time"

	"plantstore/storage"
)

const (
	// checkpointPlants bounds the plants of one transaction of a checkpoint, and so
	// its memory and the time for which a commit to the tree may have to wait.
	checkpointPlants = 512
	// checkpointInterval is the pause between two tests of whether one is due.
	checkpointInterval = 250 * time.Millisecond
	// A checkpoint is due when nothing was appended for checkpointIdle, or when the
	// oldest pending plant is older than checkpointAge.
	checkpointIdle = time.Second
	checkpointAge  = time.Minute
	// paceFill is how full the active half may be at the end of a checkpoint, and
	// paceMax bounds the pause between two transactions.
	paceFill = 0.7
	paceMax  = 20 * time.Millisecond
)

// runCheckpoints moves pending plants to the tree when a checkpoint is due. It ends when one
// fails for another reason than space: monitor stops the store then.
func (e *Engine) runCheckpoints(ctx context.Context) {
	for sleep(ctx, checkpointInterval) {
		if !e.checkpointDue() {
			continue
		}
		tried := e.noSpace.Load()
		e.journal.Freeze()
		err := e.checkpoint(func(done float64, began time.Time) { e.pace(ctx, done, began) })
		if err != nil && !errors.Is(err, storage.ErrNoSpace) {
			return
		}
		if err != nil && !tried {
			e.logger.Error("no space for a checkpoint: creates refused", "database", e.path, "cause", err.Error(),
				"hint", "free some space on the disk: the checkpoint is retried")
		}
	}
}

// checkpointDue reports whether a checkpoint should begin, or be tried again.
func (e *Engine) checkpointDue() bool {
	s := e.journal.Stats()
	return s.Bytes > 0 && (e.journal.Frozen() || // a half is full, or a checkpoint found no space
		time.Since(s.Appended) >= checkpointIdle || time.Since(s.Oldest) >= checkpointAge)
}

// pace waits between two transactions of a checkpoint, so that its work is spread
// over the time in which the active half fills up to paceFill. It doesn't wait if
// there are no appends.
func (e *Engine) pace(ctx context.Context, done float64, began time.Time) {
	s := e.journal.Stats()
	filled := float64(s.Active) / (paceFill * float64(e.journal.MaxBatch()))
	ahead := done - filled
	if s.Active == 0 || ahead <= 0 || time.Since(s.Appended) > paceMax {
		return
	}
	elapsed := float64(time.Since(began))
	sleep(ctx, min(paceMax, time.Duration(ahead/filled*elapsed)))
}

// checkpoint makes the records of the frozen half, if there is one, durable in the tree. It
// calls pause, unless that is nil, between its transactions. An error that matches
// [storage.ErrNoSpace] leaves the rest pending, and later creates try again.
func (e *Engine) checkpoint(pause func(done float64, began time.Time)) (err error) {
	e.checkpointing.Lock()
	defer e.checkpointing.Unlock()
	if cause := e.failed.Load(); cause != nil {
		return e.fatal(*cause, nil)
	}
	began := time.Now()
	for part := range e.journal.Checkpoint(*e.state.Load(), checkpointPlants) {
		state := part.State // which outlives the records
		if err = e.update(part.Records, &state); err != nil {
			break
		}
		if part.Done == 1 {
			e.checkpoints.Add(1)
			e.checkpointTime.Add(int64(time.Since(began)))
		} else if pause != nil {
			pause(part.Done, began)
		}
	}
	e.noSpace.Store(errors.Is(err, storage.ErrNoSpace))
	return err
}

// checkpointAll moves all pending records to the tree. There must be no commits
// meanwhile.
func (e *Engine) checkpointAll() error {
	for e.journal.Stats().Bytes > 0 {
		e.journal.Freeze()
		if err := e.checkpoint(nil); err != nil {
			return err
		}
	}
	return nil
}

// setClean stores in the database whether it needs its journal. No records may be
// pending.
func (e *Engine) setClean(clean bool) error {
	e.checkpointing.Lock()
	defer e.checkpointing.Unlock()
	state := *e.state.Load()
	if state.Clean == clean {
		return nil
	}
	state.Clean = clean
	return e.update(nil, &state)
}
