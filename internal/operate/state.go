package operate

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// Info is the information that a server reports about itself.
type Info struct {
	Version      string    `json:"version,omitzero"`
	BaseURL      string    `json:"base_url,omitzero"`
	Ephemeral    bool      `json:"ephemeral,omitzero"`      // its plants are temporary, and it keeps requests
	Place        string    `json:"place,omitzero"`          // of the plants, for people
	MaxBodyBytes int64     `json:"max_body_bytes,omitzero"` // of a plant in JSON, which imports apply, too
	Started      time.Time `json:"started,omitzero"`        // a server numbers its creates and requests from 1 on
}

// A status is the response of an endpoint without another result.
type status struct {
	Status string `json:"status"`
	Plants *int64 `json:"plants,omitzero"`
}

func (o *Operator) info(w *response, _ *http.Request) error { return w.reply(o.Info) }

// live responds as long as the process runs.
func (*Operator) live(w *response, _ *http.Request) error { return w.reply(status{Status: "alive"}) }

// ready reports whether the server should get requests, and why not.
func (o *Operator) ready(w *response, r *http.Request) error {
	problem, cause := o.Problem()
	o.logChange(r.Context(), problem, cause)
	if problem != "" {
		return models.NewError(models.CodeUnavailable, "not ready: "+problem)
	}
	return w.reply(status{Status: "ready"})
}

// logChange logs a problem, unless the last response was about the same.
func (o *Operator) logChange(ctx context.Context, problem string, cause error) {
	o.mu.Lock()
	before := o.last
	o.last = problem
	o.mu.Unlock()
	switch {
	case problem == before:
	case problem == "":
		o.Logger.InfoContext(ctx, "ready again")
	default:
		attrs := []slog.Attr{slog.String("why", problem)}
		if cause != nil {
			attrs = append(attrs, slog.String("cause", cause.Error()))
		}
		o.Logger.LogAttrs(ctx, slog.LevelWarn, "not ready", attrs...)
	}
}

func (o *Operator) reset(w *response, r *http.Request) error {
	plants, err := o.Reset(r.Context())
	var failure *models.Error
	switch {
	case err == nil:
		return w.reply(status{"reset", &plants})
	case errors.As(err, &failure):
		return failure
	case errors.Is(err, storage.ErrUnavailable): // Reset has logged the cause
		return models.NewError(models.CodeUnavailable, "the reset failed: the store is not available; see the log")
	}
	return models.NewError(models.CodeInternal, "the reset failed: see the log")
}

// requests responds with the kept requests. Those for the page have lines.
func (o *Operator) requests(w *response, r *http.Request) error {
	all, failure := o.Requests.Query(r)
	if failure != nil {
		return failure
	}
	w.sendLines()
	for i := range all {
		if r.URL.Path == pageRequests {
			all[i].SetLines()
		}
		if err := w.send(all[i]); err != nil {
			return err
		}
	}
	return nil
}
