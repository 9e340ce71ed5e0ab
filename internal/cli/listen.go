package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"

	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/internal/unixsocket"
)

// activatedName is the name that tells the sockets for clients from others that
// systemd may hand over (FileDescriptorName=).
const activatedName = "http"

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
	return reachable("http", l.admin.Addr().String())
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
		return nil, misuse("ADDR (--addr): %s is the socket that the commands for plants use: name another one", path)
	}
	socket, err := unixsocket.Listen(ctx, path, c.SocketMode)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another path with --addr or ADDR", c.Addr, err)
	}
	return socket, nil
}

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

// baseURL returns the URL under which clients reach a server that listens on addr.
func baseURL(c *config.Config, addr string) string {
	if c.BaseURL != "" {
		return strings.TrimRight(c.BaseURL, "/")
	}
	scheme := "http"
	if c.TLS() {
		scheme = "https"
	}
	if _, ok := config.UnixPath(addr); ok {
		return scheme + "://localhost" // any host will do
	}
	if _, port, err := net.SplitHostPort(addr); err == nil && len(c.ACMEDomains) > 0 {
		addr = net.JoinHostPort(c.ACMEDomains[0], port)
	}
	base := reachable(scheme, addr)
	if c.TLS() {
		base = strings.TrimSuffix(base, ":443")
	}
	return base
}

// reachable returns the URL under which this machine reaches a server that listens
// on addr.
func reachable(scheme, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return scheme + "://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	base := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)} // knows IPv6 zones
	return base.String()
}
