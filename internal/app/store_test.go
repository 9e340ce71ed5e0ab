package app

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestAdviseDatabase checks that the advice follows the error, which still matches.
func TestAdviseDatabase(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for cause, want := range map[error]string{
		fs.ErrNotExist: "; name the database with --storage-url; plantstore serve creates it, but not with --ephemeral",
		syscall.EACCES: "; run this as the owner of the directory, or name another place with --storage-url",
		syscall.EROFS:  "; make it writable, or name another place with --storage-url",
		syscall.ENOSPC: "; free some space on that disk, and try again",
		other:          "",
	} {
		err := fmt.Errorf("database x: %w", cause)
		advice, found := strings.CutPrefix(AdviseDatabase(err).Error(), err.Error())
		if !found || advice != want || !errors.Is(AdviseDatabase(err), cause) {
			t.Errorf("%v: %v, want %q added", err, AdviseDatabase(err), want)
		}
	}
	if err := AdviseDatabase(nil); err != nil {
		t.Error(err)
	}
}
