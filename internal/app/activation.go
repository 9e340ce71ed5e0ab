package app

import (
	"fmt"
	"log/slog"
	"net"
	"os"

	"github.com/coreos/go-systemd/v22/activation"
)

// activatedName is the name that tells the sockets for clients from others that
// systemd may hand over (FileDescriptorName=).
const activatedName = "http"

// activated returns the listeners for clients among what systemd hands over
// (LISTEN_FDS), none if that is nothing.
func activated(logger *slog.Logger) ([]net.Listener, error) {
	files := activation.Files(true)
	defer func() {
		for _, file := range files {
			_ = file.Close() // a listener has its own
		}
	}()
	chosen, others := chooseActivated(files)
	if len(others) > 0 && chosen == nil {
		return nil, fmt.Errorf("systemd hands over %d sockets: those for clients must be named by FileDescriptorName=%s", len(files), activatedName)
	}
	var l listeners
	for _, file := range chosen {
		listener, err := net.FileListener(file)
		if err != nil {
			l.close()
			return nil, fmt.Errorf("systemd hands over something that clients cannot connect to: it must be a socket of ListenStream= and Accept=no: %w", err)
		}
		l.clients = append(l.clients, listener)
	}
	for _, file := range others {
		logger.Warn("systemd hands over a socket on which nobody is answered: those for clients are named by FileDescriptorName="+activatedName,
			"name", file.Name())
	}
	return l.clients, nil
}

// chooseActivated tells those sockets that are for clients from the others: they have
// the right name, or all have the same one, as those of a single unit do.
func chooseActivated(files []*os.File) (chosen, others []*os.File) {
	chosen, others = named(files, activatedName)
	if len(others) > 0 && chosen == nil {
		if alike, different := named(files, files[0].Name()); different == nil {
			return alike, nil
		}
	}
	return chosen, others
}

// named tells the files of that name from the others.
func named(files []*os.File, name string) (these, others []*os.File) {
	for _, file := range files {
		if file.Name() == name {
			these = append(these, file)
		} else {
			others = append(others, file)
		}
	}
	return these, others
}
