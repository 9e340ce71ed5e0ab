//go:build !unix

package files

import (
	"io/fs"
	"syscall"
)

// NoFollow is zero: other users may create links only where they may write.
const NoFollow = 0

// refused is WSAECONNREFUSED, the error of connecting to a socket without a listener.
const refused syscall.Errno = 10061

func ownerOf(fs.FileInfo) (uid, gid int, known bool) { return 0, 0, false }

func usable(string, fs.FileInfo) bool { return true }

func restrict(uintptr, fs.FileMode) {}

// hold returns a suffix only, since directories cannot be locked. Leftover files remain.
func hold(string) (suffix string, release func()) { return otherSuffix, func() {} }
