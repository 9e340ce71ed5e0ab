package secretfile

import "golang.org/x/sys/unix"

// searchDirectory are flags to open a directory that this process may search but not list.
const searchDirectory = unix.O_PATH | unix.O_DIRECTORY
