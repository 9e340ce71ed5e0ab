package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"plantstore/internal/certificate"
	"plantstore/internal/config"
	"plantstore/internal/files"
)

// socketPerm permits the user and the group of the server to connect to the socket of
// ADDR=unix:PATH.
const socketPerm fs.FileMode = 0o660

func (a *App) listenForClients(ctx context.Context) (err error) {
	if path, ok := config.UnixPath(a.config.Addr); ok {
		if a.clients, err = files.Listen(ctx, path, socketPerm); err != nil {
			return fmt.Errorf("cannot listen on %s: %w; choose another path with --addr or ADDR", a.config.Addr, err)
		}
	} else if a.clients, err = listenTCP(ctx, a.config.Addr, "--addr or ADDR"); err != nil {
		return err
	}
	a.onClose(func() error { _ = a.clients.Close(); return nil }) // it may be closed already
	return nil
}

// listenAdmin opens the admin listener. If its default address is in use, perhaps by another
// plant store, the server starts without it.
func (a *App) listenAdmin(ctx context.Context) (err error) {
	addr := a.config.AdminAddr
	if addr == "" {
		a.noAdmin = "ADMIN_ADDR is off"
		return nil
	}
	if a.admin, err = listenTCP(ctx, addr, "--admin-addr or ADMIN_ADDR, or off for no probes and metrics"); err != nil {
		if _, given := a.config.Given("ADMIN_ADDR"); given || !errors.Is(err, errInUse) {
			return err
		}
		a.noAdmin = addr + " was in use by another program when the server started"
		a.Notice(slog.LevelWarn, "no admin listener", "cause", a.noAdmin, "hint", "choose another address with --admin-addr or ADMIN_ADDR, or off")
		return nil
	}
	a.onClose(func() error { _ = a.admin.Close(); return nil }) // as above
	return nil
}

// address returns the address for clients, in the form of ADDR.
func (a *App) address() string {
	address := a.clients.Addr().String()
	if a.clients.Addr().Network() == "unix" {
		return config.UnixScheme + address
	}
	return address
}

// adminURL returns the URL of the admin listener, empty if there is none.
func (a *App) adminURL() string {
	if a.admin == nil {
		return ""
	}
	return config.LocalURL("http", a.admin.Addr().String())
}

var errInUse = errors.New("is in use by another program")

// Errors of Windows. The constants of package syscall for them have other values there.
const (
	errWinAccess    = syscall.Errno(10013) // WSAEACCES: used exclusively by another program, or reserved
	errWinAddrInUse = syscall.Errno(10048) // WSAEADDRINUSE
)

// listenTCP opens a listener: for an IPv4 address only on IPv4, for localhost on a loopback address that this
// machine has. Its error names the options that set the address.
func listenTCP(ctx context.Context, addr, options string) (net.Listener, error) {
	host, port, _ := net.SplitHostPort(addr) // addr is valid
	localhost, network, local := strings.EqualFold(host, "localhost"), "tcp", addr
	if localhost {
		local = net.JoinHostPort("127.0.0.1", port)
	}
	if localhost || net.ParseIP(host).To4() != nil {
		network = "tcp4"
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, network, local)
	if localhost && errors.Is(err, syscall.EADDRNOTAVAIL) {
		listener, err = listen.Listen(ctx, "tcp6", net.JoinHostPort("::1", port))
	}
	if err != nil {
		return nil, adviseListen(err, addr, options)
	}
	return listener, nil
}

func adviseListen(err error, addr, options string) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, errWinAddrInUse), errors.Is(err, errWinAccess):
		return fmt.Errorf("%s %w; choose another address with %s", addr, errInUse, options)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listening on %s is not permitted; choose a port above 1023 with %s", addr, options)
	}
	if failure, ok := errors.AsType[*net.OpError](err); ok {
		err = failure.Err // the address is in the message already
	}
	return fmt.Errorf("cannot listen on %s: %w; choose another address with %s", addr, err, options)
}

func (a *App) openCertificates() error {
	c := a.config
	switch {
	case !c.TLS():
		a.expires = func() time.Time { return time.Time{} }
	case c.TLSCertFile != "":
		pair, err := certificate.Load(c.TLSCertFile, c.TLSKeyFile, a.logger)
		if err != nil {
			return config.Invalid("there is no certificate for TLS: %w", AdviseRead(err, "name its files with --tls-cert-file and --tls-key-file"))
		}
		a.tls, a.expires = pair.TLS(), pair.Expires
		a.reloads = append(a.reloads, reload{"certificate", func(context.Context) error { return pair.Reload() }})
		a.watches = append(a.watches, pair.Watch)
	default:
		cache := filepath.Join(filepath.Dir(cmp.Or(c.Storage.Path, "data/plants.db")), "acme")
		if err := files.MkdirAll(cache, 0o700); err != nil {
			return fmt.Errorf("the directory of the certificates: %w", err)
		}
		acme := certificate.NewACME(c.ACMEDomains, cache, c.ACMEDirectory, a.logger)
		a.tls, a.expires = acme.TLS(), acme.Expires
		a.watches = append(a.watches, acme.Watch)
	}
	return nil
}
