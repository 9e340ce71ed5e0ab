package app

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"

	"github.com/coreos/go-systemd/v22/activation"
)

// activatedName is the FileDescriptorName= of the sockets for clients, if systemd passes
// others as well.
const activatedName = "http"

// activated returns listeners for the sockets for clients that systemd passes (LISTEN_FDS):
// the sockets with activatedName, or all if they have the same name, as the sockets of one
// unit do.
func activated(logger *slog.Logger) ([]net.Listener, error) {
	files := activation.Files(true)
	defer func() {
		for _, file := range files {
			_ = file.Close() // a listener has its own
		}
	}()
	alike := !slices.ContainsFunc(files, func(f *os.File) bool { return f.Name() != files[0].Name() })
	if !alike && !slices.ContainsFunc(files, func(f *os.File) bool { return f.Name() == activatedName }) {
		return nil, fmt.Errorf("systemd passes %d sockets: name the sockets for clients with FileDescriptorName=%s", len(files), activatedName)
	}
	var l listeners
	for _, file := range files {
		if !alike && file.Name() != activatedName {
			logger.Warn("systemd socket ignored", "name", file.Name(), "hint", "name the sockets for clients with FileDescriptorName="+activatedName)
			continue
		}
		listener, err := net.FileListener(file)
		if err != nil {
			l.close()
			return nil, fmt.Errorf("systemd passes something that clients cannot connect to: it must be a socket of ListenStream= and Accept=no: %w", err)
		}
		l.clients = append(l.clients, listener)
	}
	return l.clients, nil
}
