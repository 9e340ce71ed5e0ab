//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
	"testing"

	"plantstore/internal/must"
)

// An owned file has a mode and belongs to a user and a group.
type owned struct {
	fs.FileInfo
	mode     fs.FileMode
	uid, gid int
}

func (o owned) Mode() fs.FileMode { return o.mode }
func (o owned) Sys() any          { return &syscall.Stat_t{Uid: uint32(o.uid), Gid: uint32(o.gid)} }

// TestOwners checks what the owner and the group of a file may do: root, the user of this process and
// its groups are trusted, others are not.
func TestOwners(t *testing.T) {
	t.Parallel()
	const nobody = 65533
	us, ours, supplementary := os.Geteuid(), os.Getegid(), os.Getegid()
	if groups := must.Get(os.Getgroups())(t); len(groups) > 0 {
		supplementary = groups[len(groups)-1]
	}
	for file, want := range map[owned]struct{ changed, exposed bool }{
		{mode: 0o600, uid: us, gid: nobody}:        {},
		{mode: 0o660, uid: us, gid: ours}:          {},
		{mode: 0o660, uid: 0, gid: ours}:           {},
		{mode: 0o660, uid: us, gid: supplementary}: {},
		{mode: 0o640, uid: us, gid: nobody}:        {exposed: true},
		{mode: 0o620, uid: us, gid: nobody}:        {changed: true},
		{mode: 0o660, uid: us, gid: nobody}:        {changed: true, exposed: true},
		{mode: 0o604, uid: us, gid: ours}:          {exposed: true},
		{mode: 0o602, uid: us, gid: ours}:          {changed: true},
		{mode: 0o600, uid: nobody, gid: ours}:      {changed: true},
	} {
		changed, exposed := kind{}.check("file", file) != nil, othersMay(file, groupReads|othersRead)
		if changed != want.changed || exposed != want.exposed {
			t.Errorf("mode %#o of user %d, group %d: others can change it: %t, read it: %t, want %+v", file.mode, file.uid, file.gid, changed, exposed, want)
		}
	}
}
