package app

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/config"
	"plantstore/internal/must"
)

// TestAdminAddressInUse checks that a server starts without an admin listener if its default
// address is in use, but not if the address was configured.
func TestAdminAddressInUse(t *testing.T) {
	t.Parallel()
	other := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer func() { _ = other.Close() }()
	addr := other.Addr().String()
	a := &App{config: &config.Config{AdminAddr: addr}}
	if err := a.listenAdmin(t.Context()); err != nil || a.admin != nil {
		t.Errorf("listenAdmin = %v, %v, want no listener", a.admin, err)
	}
	if want := addr + " was in use by another program when the server started"; a.noAdmin != want {
		t.Errorf("the reason is %q, want %q", a.noAdmin, want)
	}
	chosen := must.Get(config.Load(config.Sources{Environ: map[string]string{"ADMIN_ADDR": addr}}))(t)
	if err := (&App{config: chosen}).listenAdmin(t.Context()); !errors.Is(err, errInUse) {
		t.Errorf("listenAdmin = %v, want %v", err, errInUse)
	}
}

// TestListenIPv4 checks that an IPv4 address means that IPv4 only is used.
func TestListenIPv4(t *testing.T) {
	t.Parallel()
	listener := must.Get(listenTCP(t.Context(), "0.0.0.0:0", ""))(t)
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for host, want := range map[string]bool{"127.0.0.1": true, "::1": false} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err == nil {
			_ = conn.Close()
		}
		if (err == nil) != want {
			t.Errorf("a connection to %s: %v, want one: %t", host, err, want)
		}
	}
}

// TestListenFailures checks the advice for each system, on all of them.
func TestListenFailures(t *testing.T) {
	t.Parallel()
	for errno, want := range map[syscall.Errno]string{
		syscall.EADDRINUSE:    "localhost:80 is in use by another program; choose another address with --addr",
		10048:                 "localhost:80 is in use by another program; choose another address with --addr",
		10013:                 "localhost:80 is in use by another program; choose another address with --addr",
		syscall.EACCES:        "listening on localhost:80 is not permitted; choose a port above 1023 with --addr",
		syscall.EADDRNOTAVAIL: "cannot listen on localhost:80: bind: " + syscall.EADDRNOTAVAIL.Error() + "; choose another address with --addr",
	} {
		err := adviseListen(&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", errno)}, "localhost:80", "--addr")
		if err.Error() != want || errors.Is(err, errInUse) != strings.Contains(want, "in use") {
			t.Errorf("%d: %q, want %q", int(errno), err, want)
		}
	}
}
