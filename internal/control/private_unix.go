//go:build unix

package control

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// checkOwner returns an error unless the socket at path belongs to the owner of
// the database file, to the caller or to root.
func checkOwner(database, path string) error {
	socket, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if socket.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is no socket", path)
	}
	trusted := []int{0, os.Geteuid()}
	if file, err := os.Stat(database); err == nil {
		trusted = append(trusted, ownerOf(file))
	}
	if owner := ownerOf(socket); !slices.Contains(trusted, owner) {
		return fmt.Errorf("%s is ignored: it belongs to the user %d, and the database does not", path, owner)
	}
	return nil
}

// ownerOf returns the user that a file belongs to, or -1.
func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
