package cli

import (
	"context"
	"errors"
	"fmt"
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

// activatedName is the name that tells the socket for clients from others that
// systemd may hand over (FileDescriptorName=).
const activatedName = "http"

// listeners are what a server listens on.
type listeners struct {
	clients net.Listener
	admin   net.Listener // nil if ADMIN_ADDR is off
}

// listenAll opens all of them, or none. If several cannot be had, the error names
// them all, so that nobody has to start a second server in vain twice.
func listenAll(ctx context.Context, c *config.Config) (l listeners, err error) {
	clients, clientsErr := listenForClients(ctx, c)
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
	for _, listener := range []net.Listener{l.clients, l.admin} {
		if listener != nil {
			_ = listener.Close()
		}
	}
}

// address returns where clients are listened to, as ADDR has it.
func (l listeners) address() string {
	addr := l.clients.Addr()
	if addr.Network() == "unix" {
		return config.UnixScheme + addr.String()
	}
	return addr.String()
}

// adminURL returns where the admin listener is reached, empty if there is none.
func (l listeners) adminURL() string {
	if l.admin == nil {
		return ""
	}
	return reachable("http", l.admin.Addr().String())
}

// listenForClients returns the listener that systemd hands over, if it does, or else
// opens that of ADDR.
func listenForClients(ctx context.Context, c *config.Config) (net.Listener, error) {
	listener, err := activated()
	if listener != nil || err != nil {
		return listener, err
	}
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

// activated returns the listener that systemd hands over (LISTEN_FDS), nil if there
// is none.
func activated() (net.Listener, error) {
	files := activation.Files(true)
	if len(files) == 0 {
		return nil, nil //nolint:nilnil // so says the comment
	}
	defer func() {
		for _, file := range files {
			_ = file.Close() // a listener has its own
		}
	}()
	i := slices.IndexFunc(files, func(f *os.File) bool { return f.Name() == activatedName })
	switch {
	case i < 0 && len(files) > 1:
		return nil, fmt.Errorf("systemd hands over %d sockets: one of them must be named by FileDescriptorName=%s", len(files), activatedName)
	case i < 0:
		i = 0
	}
	listener, err := net.FileListener(files[i])
	if err != nil {
		return nil, fmt.Errorf("systemd hands over something that clients cannot connect to: it must be a socket of ListenStream= and Accept=no: %w", err)
	}
	return listener, nil
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
