package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"

	"plantstore/internal/config"
	"plantstore/internal/unixsocket"
)

// listeners are the listeners of a server.
type listeners struct {
	clients []net.Listener // one, unless systemd passes several
	admin   net.Listener   // nil if there is none
	noAdmin string         // reason why there is none
}

// listenAll opens all listeners, or none. The error names all failures, so that one attempt
// shows everything to fix.
func listenAll(ctx context.Context, c *config.Config, logger *slog.Logger) (*listeners, error) {
	l := new(listeners)
	if err := errors.Join(l.listenForClients(ctx, c, logger), l.listenAdmin(ctx, c)); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// listenAdmin opens the admin listener. If its default address is in use, perhaps by another
// plant store, the server starts without it.
func (l *listeners) listenAdmin(ctx context.Context, c *config.Config) (err error) {
	if c.AdminAddr == "" {
		l.noAdmin = "ADMIN_ADDR is off"
		return nil
	}
	l.admin, err = listenTCP(ctx, c.AdminAddr, "--admin-addr or ADMIN_ADDR, or off for no probes and metrics")
	if _, given := c.Given("ADMIN_ADDR"); !given && errors.Is(err, errInUse) {
		l.noAdmin = c.AdminAddr + " was in use by another program when the server started"
		return nil
	}
	return err
}

// close closes the listeners. They may be closed already.
func (l *listeners) close() {
	for _, listener := range append(slices.Clip(l.clients), l.admin) {
		if listener != nil {
			_ = listener.Close()
		}
	}
}

// addresses returns the addresses for clients, in the form of ADDR.
func (l *listeners) addresses() []string {
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

// address returns the address for the base URL: the first port, or else the first socket.
func (l *listeners) address() string {
	addresses := l.addresses()
	port := slices.IndexFunc(addresses, func(address string) bool {
		_, socket := config.UnixPath(address)
		return !socket
	})
	return addresses[max(port, 0)]
}

// adminURL returns the URL of the admin listener, empty if there is none.
func (l *listeners) adminURL() string {
	if l.admin == nil {
		return ""
	}
	return config.LocalURL("http", l.admin.Addr().String())
}

// listenForClients opens the listeners that systemd passes, or else listens on ADDR.
func (l *listeners) listenForClients(ctx context.Context, c *config.Config, logger *slog.Logger) error {
	if err := l.activate(logger); l.clients != nil || err != nil {
		return err
	}
	path, ok := config.UnixPath(c.Addr)
	if !ok {
		listener, err := listenTCP(ctx, c.Addr, "--addr or ADDR")
		l.clients = []net.Listener{listener}
		return err
	}
	if what := UsedAs(c, path); what != "" {
		return config.Invalid("ADDR (--addr): %s is %s: name another one", path, what)
	}
	socket, err := unixsocket.Listen(ctx, path, c.SocketMode)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another path with --addr or ADDR", c.Addr, err)
	}
	l.clients = []net.Listener{socket}
	return nil
}

// activatedName is the FileDescriptorName= of the sockets for clients, if systemd passes
// others as well.
const activatedName = "http"

// activate opens listeners for the sockets for clients that systemd passes (LISTEN_FDS): the
// sockets with activatedName, or all if they have the same name, as the sockets of one unit do.
func (l *listeners) activate(logger *slog.Logger) error {
	files := activation.Files(true)
	defer func() {
		for _, file := range files {
			_ = file.Close() // a listener has its own
		}
	}()
	alike := !slices.ContainsFunc(files, func(f *os.File) bool { return f.Name() != files[0].Name() })
	if !alike && !slices.ContainsFunc(files, func(f *os.File) bool { return f.Name() == activatedName }) {
		return fmt.Errorf("systemd passes %d sockets: name the sockets for clients with FileDescriptorName=%s", len(files), activatedName)
	}
	for _, file := range files {
		if !alike && file.Name() != activatedName {
			logger.Warn("systemd socket ignored", "name", file.Name(), "hint", "name the sockets for clients with FileDescriptorName="+activatedName)
			continue
		}
		listener, err := net.FileListener(file)
		if err != nil {
			return fmt.Errorf("systemd passes something that clients cannot connect to: it must be a socket of ListenStream= and Accept=no: %w", err)
		}
		l.clients = append(l.clients, listener)
	}
	return nil
}

var errInUse = errors.New("is in use by another program")

// listenTCP opens a listener. Its error names the options that set the address.
func listenTCP(ctx context.Context, addr, options string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s %w; choose another address with %s", addr, errInUse, options)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("listening on %s is not permitted; choose a port above 1023 with %s", addr, options)
	case err != nil:
		if failure, ok := errors.AsType[*net.OpError](err); ok {
			err = failure.Err // the address is in the message already
		}
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with %s", addr, err, options)
	}
	return listener, nil
}
