// Package postgres runs real PostgreSQL servers for the end-to-end tests.
package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

const port = 5432

// The signals that shut a server down (PostgreSQL 15, section 19.5).
const (
	Fast      = syscall.SIGINT  // connections are cut, committed data is written
	Immediate = syscall.SIGQUIT // like a crash: the next start recovers
)

// A Server is a PostgreSQL server, which trusts its clients.
type Server struct {
	*process.Process
	Address string // without a port
	Dir     string

	t    testing.TB
	args []string
	attr *syscall.SysProcAttr
}

// Start creates a database cluster in the directory dir and starts a server on it. An empty dir
// means a fresh one.
func Start(t testing.TB, dir string) *Server {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	s := &Server{Address: process.Address(), Dir: dir, t: t, attr: unprivileged(t)}
	data := filepath.Join(dir, "data")
	must.Do(t, os.MkdirAll(data, 0o700))
	if credential := s.attr.Credential; credential != nil {
		open(t, dir)
		must.Do(t, os.Chown(data, int(credential.Uid), int(credential.Gid)))
	}
	initdb := exec.CommandContext(t.Context(), find(t, "initdb"), "--pgdata", data, "--username", "plants",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--data-checksums", "--no-sync")
	initdb.SysProcAttr, initdb.Dir = s.attr, data
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.args = []string{
		find(t, "postgres"), "-D", data, "-h", s.Address, "-p", strconv.Itoa(port), "-k", "",
		// The shared memory of a killed server is removed with its directory.
		"-c", "dynamic_shared_memory_type=mmap",
	}
	s.Restart()
	return s
}

// Restart starts a stopped server, and waits until it accepts connections.
func (s *Server) Restart() {
	s.t.Helper()
	cmd := exec.CommandContext(context.Background(), s.args[0], s.args[1:]...)
	attr := *s.attr
	cmd.SysProcAttr, cmd.Dir = &attr, filepath.Join(s.Dir, "data")
	s.Process = process.Start(s.t, s.Dir, cmd)
	process.Eventually(s.t, "PostgreSQL", func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, s.URL("plants", "postgres"))
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
}

// Host returns the address with the port.
func (s *Server) Host() string { return process.Port(s.Address, port) }

// URL returns the storage URL of a database, for that role.
func (s *Server) URL(role, database string) string {
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", role, s.Host(), database)
}

// Exec runs statements in a database.
func (s *Server) Exec(database string, statements ...string) {
	s.t.Helper()
	ctx := context.Background() // cleanups use it, too
	conn := must.Get(pgx.Connect(ctx, s.URL("plants", database)))(s.t)
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			s.t.Fatalf("%s: %v", statement, err)
		}
	}
}

// Holds returns nil if a query for one truth value returns true.
func (s *Server) Holds(ctx context.Context, database, query string) error {
	conn, err := pgx.Connect(ctx, s.URL("plants", database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	holds := false
	if err := conn.QueryRow(ctx, query).Scan(&holds); err != nil {
		return err
	}
	if !holds {
		return fmt.Errorf("%s: false", query)
	}
	return nil
}

// find returns the path of a program of PostgreSQL as installed by Debian.
func find(t testing.TB, name string) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	slices.Sort(found)
	if len(found) > 0 {
		return found[len(found)-1]
	}
	return tools.Require(t, name)
}

// unprivileged returns the attributes of a process of the user nobody, if this process is
// root: PostgreSQL refuses to run as root.
func unprivileged(t testing.TB) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return new(syscall.SysProcAttr)
	}
	account := must.Get(user.Lookup("nobody"))(t)
	uid, _ := strconv.ParseUint(account.Uid, 10, 32)
	gid, _ := strconv.ParseUint(account.Gid, 10, 32)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// open makes the test's directories above dir accessible to users other than root.
func open(t testing.TB, dir string) {
	t.Helper()
	for top := filepath.Dir(filepath.Dir(t.TempDir())); len(dir) > len(top); dir = filepath.Dir(dir) {
		must.Do(t, os.Chmod(dir, 0o711))
	}
}
