package app

import (
	"errors"
	"net"
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
	var l listeners
	if err := l.listenAdmin(t.Context(), &config.Config{AdminAddr: addr}); err != nil || l.admin != nil {
		t.Errorf("listenAdmin = %v, %v, want no listener", l.admin, err)
	}
	if want := addr + " was in use by another program when the server started"; l.noAdmin != want {
		t.Errorf("the reason is %q, want %q", l.noAdmin, want)
	}
	chosen := must.Get(config.Load(config.Sources{Environ: map[string]string{"ADMIN_ADDR": addr}}))(t)
	if err := new(listeners).listenAdmin(t.Context(), chosen); !errors.Is(err, errInUse) {
		t.Errorf("listenAdmin = %v, want %v", err, errInUse)
	}
}
