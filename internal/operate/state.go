package operate

import (
	"context"
	"errors"
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
	TokenCommand string    `json:"token_command,omitzero"`  // empty: no command has the secret
}

// A number is the number of plants, with what the page shows beside it, or what was done.
type number struct {
	Status string `json:"status,omitzero"`
	Info   `json:",embed"`
	Plants int64 `json:"plants"`
	// Removed has the numbers up to which creates and requests were removed, by their view of the page.
	Removed struct {
		Newest   int64 `json:"newest,omitzero"`
		Requests int64 `json:"requests,omitzero"`
	} `json:"removed,omitzero"`
}

func (o *Operator) info(w *response, _ *http.Request) error { return w.reply(o.Info) }

// live responds as long as the process runs.
func (*Operator) live(w *response, _ *http.Request) error {
	return w.reply(map[string]string{"status": "alive"})
}

// ready reports whether the server should get requests, and why not.
func (o *Operator) ready(w *response, r *http.Request) error {
	problem, cause := o.Problem()
	o.logChange(r.Context(), problem, cause)
	if problem != "" {
		return models.NewError(models.CodeUnavailable, "not ready: "+problem)
	}
	return w.reply(map[string]string{"status": "ready"})
}

// logChange logs a problem, unless the last response was about the same.
func (o *Operator) logChange(ctx context.Context, problem string, cause error) {
	attrs := []any{"why", problem}
	if cause != nil {
		attrs = append(attrs, "cause", cause.Error())
	}
	switch before := o.last.Swap(problem); {
	case problem == before:
	case problem != "":
		o.Logger.WarnContext(ctx, "not ready", attrs...)
	case before != nil:
		o.Logger.InfoContext(ctx, "ready again")
	}
}

func (o *Operator) reset(w *response, r *http.Request) error {
	plants, err := o.Reset(r.Context())
	switch {
	case err == nil:
		return w.reply(number{Status: "reset", Plants: plants})
	case errors.As(err, new(*models.Error)):
		return err
	case errors.Is(err, storage.ErrUnavailable): // Reset has logged the cause
		return models.NewError(models.CodeUnavailable, "the reset failed: the store is not available; see the log")
	}
	return models.NewError(models.CodeInternal, "the reset failed: see the log")
}

func (o *Operator) count(w *response, r *http.Request) error {
	plants, err := o.Store.Count(r.Context())
	if err != nil {
		return err
	}
	n := number{Info: o.Info, Plants: plants}
	if o.Creates != nil {
		n.Removed.Newest = o.Creates.feed.Removed()
	}
	if o.Requests != nil {
		n.Removed.Requests = o.Requests.Removed()
	}
	return w.reply(n)
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
