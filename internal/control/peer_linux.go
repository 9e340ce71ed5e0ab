package control

import "golang.org/x/sys/unix"

// peerUser returns the user who listens at the other end of a connection.
func peerUser(fd int) (int, error) {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(peer.Uid), nil
}
