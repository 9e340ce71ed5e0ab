//go:build unix

package control_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/control"
)

// A socket counts only if the owner of the database has made it, or the caller, or
// root. A server that starts replaces any other.
func TestForeignSocket(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("NOT CHECKED: only root can give files away")
		}
		t.Skip("only root can give files away")
	}
	const owner, stranger = 65532, 65533
	path := filepath.Join(t.TempDir(), "plants.db")
	newDatabase(t, path)
	socket := control.SocketPath(path)
	give := func(name string, user int) {
		t.Helper()
		if err := os.Chown(name, user, user); err != nil {
			t.Fatal(err)
		}
	}
	give(path, owner)
	wantPlant(t, path) // from root
	give(socket, owner)
	wantPlant(t, path)
	give(socket, stranger)
	if client, err := control.Dial(t.Context(), path); err == nil || !strings.Contains(err.Error(), "it belongs to the user 65533") {
		t.Errorf("Dial: %v, %v, want that the socket is ignored", client, err)
	}
	listener, err := control.Listen(t.Context(), path)
	if err != nil {
		t.Fatalf("Listen over a stranger's socket: %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
}
