//go:build !linux && !darwin && !windows

package durable

import "errors"

// renameNoReplace has no counterpart on this system: a rename that may replace
// a file would lose what another process has put there.
func renameNoReplace(_, _ string) error { return errors.ErrUnsupported }
