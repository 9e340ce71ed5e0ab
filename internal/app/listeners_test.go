package app

import (
	"errors"
	"net"
	"path/filepath"
	"slices"
	"testing"

	"plantstore/internal/config"
)

// TestAddressOfSeveral checks that the base URL has the first port, even if a socket precedes
// it.
func TestAddressOfSeveral(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	var l listeners
	defer func() { l.close() }()
	for _, place := range [][2]string{{"unix", path}, {"tcp", "127.0.0.1:0"}, {"tcp", "127.0.0.1:0"}} {
		listener, err := new(net.ListenConfig).Listen(t.Context(), place[0], place[1])
		if err != nil {
			t.Fatal(err)
		}
		l.clients = append(l.clients, listener)
	}
	first, second := l.clients[1].Addr().String(), l.clients[2].Addr().String()
	if got, want := l.addresses(), []string{config.UnixScheme + path, first, second}; !slices.Equal(got, want) {
		t.Errorf("the addresses are %q, want %q", got, want)
	}
	if got := l.address(); got != first {
		t.Errorf("the address is %s, want %s", got, first)
	}
	if got, want := (&listeners{clients: l.clients[:1]}).address(), config.UnixScheme+path; got != want {
		t.Errorf("the address is %s, want %s", got, want)
	}
}

// TestAdminAddressInUse checks that a server starts without an admin listener if its default
// address is in use, but not if the address was configured.
func TestAdminAddressInUse(t *testing.T) {
	t.Parallel()
	other, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	addr := other.Addr().String()
	var l listeners
	if err := l.listenAdmin(t.Context(), &config.Config{AdminAddr: addr}); err != nil || l.admin != nil {
		t.Errorf("listenAdmin = %v, %v, want no listener", l.admin, err)
	}
	if want := addr + " was in use by another program when the server started"; l.noAdmin != want {
		t.Errorf("the reason is %q, want %q", l.noAdmin, want)
	}
	chosen, err := config.Load(config.Sources{Environ: map[string]string{"ADMIN_ADDR": addr}})
	if err != nil {
		t.Fatal(err)
	}
	if err := new(listeners).listenAdmin(t.Context(), chosen); !errors.Is(err, errInUse) {
		t.Errorf("listenAdmin = %v, want %v", err, errInUse)
	}
}
