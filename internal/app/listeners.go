package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"syscall"

	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/internal/unixsocket"
)

// listeners are what a server listens on.
type listeners struct {
	clients []net.Listener // one, unless systemd hands over several
	admin   net.Listener   // nil if ADMIN_ADDR is off
}

// listenAll opens all of them, or none. If several cannot be had, the error names
// them all, so that nobody has to start a second server in vain twice.
func listenAll(ctx context.Context, c *config.Config, logger *slog.Logger) (l listeners, err error) {
	clients, clientsErr := listenForClients(ctx, c, logger)
	l.clients = clients
	var adminErr error
	if c.AdminAddr != "" {
		l.admin, adminErr = listenTCP(ctx, c.AdminAddr, "--admin-addr or ADMIN_ADDR, or off for no probes and metrics")
	}
	if err := errors.Join(clientsErr, adminErr); err != nil {
		l.close()
		return listeners{}, err
	}
	return l, nil
}

// close closes them again, if they were served.
func (l listeners) close() {
	for _, listener := range append(slices.Clip(l.clients), l.admin) {
		if listener != nil {
			_ = listener.Close()
		}
	}
}

// addresses returns where clients are listened to, each as ADDR has it.
func (l listeners) addresses() []string {
	var addresses []string
	for _, listener := range l.clients {
		address := listener.Addr().String()
		if listener.Addr().Network() == "unix" {
			address = config.UnixScheme + address
		}
		addresses = append(addresses, address)
	}
	return addresses
}

// address returns that of addresses which the base URL is made of: the first port, or
// else the first socket.
func (l listeners) address() string {
	addresses := l.addresses()
	port := slices.IndexFunc(addresses, func(address string) bool {
		_, socket := config.UnixPath(address)
		return !socket
	})
	return addresses[max(port, 0)]
}

// adminURL returns where the admin listener is reached, empty if there is none.
func (l listeners) adminURL() string {
	if l.admin == nil {
		return ""
	}
	return config.LocalURL("http", l.admin.Addr().String())
}

// listenForClients returns the listeners that systemd hands over, if it does, or else
// opens that of ADDR.
func listenForClients(ctx context.Context, c *config.Config, logger *slog.Logger) ([]net.Listener, error) {
	handed, err := activated(logger)
	if handed != nil || err != nil {
		return handed, err
	}
	listener, err := listenAt(ctx, c)
	if err != nil {
		return nil, err
	}
	return []net.Listener{listener}, nil
}

// listenAt opens the listener of ADDR.
func listenAt(ctx context.Context, c *config.Config) (net.Listener, error) {
	path, ok := config.UnixPath(c.Addr)
	if !ok {
		return listenTCP(ctx, c.Addr, "--addr or ADDR")
	}
	if database := c.Storage.Path; database != "" && filepath.Clean(path) == filepath.Clean(control.SocketPath(database)) {
		return nil, config.Invalid("ADDR (--addr): %s is the socket that the commands for plants use: name another one", path)
	}
	socket, err := unixsocket.Listen(ctx, path, c.SocketMode)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another path with --addr or ADDR", c.Addr, err)
	}
	return socket, nil
}

// listenTCP opens a listener, and if it cannot, names the options that say where.
func listenTCP(ctx context.Context, addr, options string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program; choose another address with %s", addr, options)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listening on %s is not permitted; choose a port above 1023 with %s", addr, options)
	case err != nil:
		if failure := new(net.OpError); errors.As(err, &failure) {
			err = failure.Err // without the address again
		}
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with %s", addr, err, options)
	}
	return listener, nil
}
