//go:build linux || darwin

package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"syscall"
)

// checkPeer returns an error unless the process that listens on the socket at path runs as the
// owner of the database file, as the caller or as root. It queries the user of the
// connection: the owner of path may have changed since.
func checkPeer(conn net.Conn, database, path string) error {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("%s is not a Unix socket", path)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	peer := -1
	var peerErr error
	err = raw.Control(func(fd uintptr) { peer, peerErr = peerUser(int(fd)) })
	if err = errors.Join(err, peerErr); err != nil {
		return fmt.Errorf("%s: the user who listens there is unknown: %w", path, err)
	}
	trusted := []int{0, os.Geteuid()}
	if info, err := os.Stat(database); err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			trusted = append(trusted, int(stat.Uid))
		}
	}
	if !slices.Contains(trusted, peer) {
		return fmt.Errorf("%s is ignored: the user %d listens there, and the database belongs to another user", path, peer)
	}
	return nil
}
