package listen

import (
	"os"
	"slices"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestLocalhostIPv6 checks that a server on localhost uses [::1] on a machine without 127.0.0.1.
func TestLocalhostIPv6(t *testing.T) {
	t.Parallel()
	tools.RequireRoot(t, "create a network namespace")
	tools.Require(t, "ip")
	dir := t.TempDir()
	cmd := plantstore.Command(t, dir, []string{"ADDR=localhost:8080", "ADMIN_ADDR=localhost:8081"}, "serve")
	cmd.Args = slices.Concat([]string{
		"unshare", "--net", "sh", "-c", `ip link set lo up && ip addr del 127.0.0.1/8 dev lo && exec "$0" "$@"`, cmd.Path,
	}, cmd.Args[1:])
	cmd.Path = tools.Require(t, "unshare")
	server := process.Start(t, dir, cmd)
	plantstore.Await(t, "the server is ready", func() bool {
		log := string(must.Get(os.ReadFile(server.LogFile))(t))
		return strings.Contains(log, `"base_url":"http://[::1]:8080"`) && strings.Contains(log, `"admin_url":"http://[::1]:8081"`)
	})
}
