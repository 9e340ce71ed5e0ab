package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"plantstore/internal/plantio"
	"plantstore/models"
	"plantstore/storage"
)

const (
	// A client may stop reading a snapshot for stallTime, and after slowTime it must have read
	// snapshotRate bytes a second. Meanwhile the store cannot reuse pages, and the database grows.
	stallTime    = 30 * time.Second
	slowTime     = time.Minute
	snapshotRate = 1 << 20
	// maxRequest bounds the body of a create: more than a batch of an import can have.
	maxRequest = 128 << 20
)

// idParam returns the id in a parameter of the query, or a default if there is none.
func idParam(r *http.Request, name string, missing int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return missing, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, models.Errorf(models.CodeBadRequest, "%q is not an id: must be an integer of 64 bits", firstCharacters(text, maxCharacters))
	}
	return id, nil
}

func (o *Operator) get(w *response, r *http.Request) error {
	id, err := idParam(r, "id", 0)
	if err != nil {
		return err
	}
	plant, err := o.Store.Get(r.Context(), id)
	if err != nil {
		return err
	}
	return w.reply(storage.Record{ID: id, Plant: plant})
}

// list responds with the plants from an id on.
func (o *Operator) list(w *response, r *http.Request) error {
	from, err := idParam(r, "from", 0)
	if err != nil {
		return err
	}
	w.sendLines()
	for record, err := range o.Store.List(r.Context(), from) {
		if err != nil {
			return err
		}
		if err := w.send(record); err != nil {
			return err
		}
	}
	return nil
}

// create creates the plants of the body.
func (o *Operator) create(w *response, r *http.Request) error {
	return sendOutcomes(w, r, func(ctx context.Context, records []storage.Record) []error {
		outcomes := o.Store.CreateAll(ctx, records)
		for i, err := range outcomes {
			if err == nil {
				o.Creates.Add("", records[i].ID)
			}
		}
		return outcomes
	})
}

// dryRun reports what a create of the plants of the body would.
func (o *Operator) dryRun(w *response, r *http.Request) error {
	return sendOutcomes(w, r, o.Store.DryRun)
}

// sendOutcomes sends a line for each plant of the body: {} or an Error.
func sendOutcomes(w *response, r *http.Request, outcomesOf func(context.Context, []storage.Record) []error) error {
	records, err := readPlants(r)
	if err != nil {
		return err
	}
	w.sendLines()
	for _, err := range outcomesOf(r.Context(), records) {
		var line any = struct{}{}
		if err != nil {
			line = encodeError(r.Context(), err)
		}
		if err := w.send(line); err != nil {
			return err
		}
	}
	return nil
}

// readPlants reads the plants of a request.
func readPlants(r *http.Request) (records []storage.Record, err error) {
	in := plantio.NewReader(http.MaxBytesReader(nil, r.Body, maxRequest), plantio.JSONLines, maxPlant)
	for {
		record, _, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return records, nil
		case err != nil:
			return nil, err
		}
		records = append(records, record)
	}
}

// failureTrailer is the trailer field with the [wireError] of a snapshot.
const failureTrailer = "Failure"

// snapshot sends a copy of the store, and its error in the trailer.
func (o *Operator) snapshot(w *response, r *http.Request) error {
	err := o.Store.Snapshot(r.Context(), &paced{w: w, controller: http.NewResponseController(w), began: time.Now()})
	if err == nil {
		return nil
	}
	level := slog.LevelError
	if r.Context().Err() != nil { // the client has gone, for example because its disk is full
		level = slog.LevelWarn
	}
	o.Logger.Log(r.Context(), level, "snapshot failed", "cause", err.Error())
	if !w.begun {
		return err
	}
	text, encodeErr := json.Marshal(encodeError(r.Context(), err))
	if encodeErr != nil {
		return encodeErr
	}
	w.Header().Set(http.TrailerPrefix+failureTrailer, string(text))
	return nil
}

// errSlow ends a snapshot.
var errSlow = fmt.Errorf("the copy is read too slowly: it needs %d MiB a second, because the database grows meanwhile", snapshotRate>>20)

// paced is the writer of a snapshot. It fails if the client does not read fast enough.
type paced struct {
	w          io.Writer
	controller *http.ResponseController
	began      time.Time
	written    int64
}

func (p *paced) Write(b []byte) (int, error) {
	deadline, slow := time.Now().Add(stallTime), p.began.Add(slowTime+time.Duration(float64(p.written)/snapshotRate*float64(time.Second)))
	if slow.Before(deadline) {
		deadline = slow
	}
	if err := p.controller.SetWriteDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := p.w.Write(b)
	p.written += int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errSlow
	}
	return n, err
}
