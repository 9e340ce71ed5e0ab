//go:build unix && !linux

package secretfile

import "golang.org/x/sys/unix"

// searchDirectory are flags to open a directory.
const searchDirectory = unix.O_RDONLY | unix.O_DIRECTORY
