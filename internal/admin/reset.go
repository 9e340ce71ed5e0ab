package admin

import (
	"errors"
	"fmt"
	"net/http"

	"plantstore/models"
	"plantstore/storage"
)

// pathReset is the only path that supports POST.
const pathReset = "/reset"

func (a *admin) reset(w http.ResponseWriter, r *http.Request) {
	plants, err := a.Reset(r.Context())
	if err != nil {
		fail(w, resetError(err))
		return
	}
	write(w, http.StatusOK, "application/json", fmt.Appendf(nil, `{"status":"reset","plants":%d}`+"\n", plants))
}

// resetError returns the Error for an error of a reset, which was logged.
func resetError(err error) *models.Error {
	switch {
	case errors.Is(err, storage.ErrNotEphemeral):
		return models.NewError(models.CodeForbidden, storage.ErrNotEphemeral.Error())
	case errors.Is(err, storage.ErrNoSpace):
		return models.NewError(models.CodeInsufficientSpace, "the plants were not reset: there is no space left")
	case errors.Is(err, storage.ErrUnavailable):
		return models.NewError(models.CodeUnavailable, "the plants were not reset: the store is not available; try again later")
	case errors.Is(err, storage.ErrResetUnrecorded):
		return models.NewError(models.CodeInternal, storage.ErrResetUnrecorded.Error())
	case errors.Is(err, storage.ErrUnknown):
		return models.NewError(models.CodeInternal, "it is not known whether the plants were reset: reset them again")
	default:
		return models.NewError(models.CodeInternal, "the reset failed: see the log")
	}
}
