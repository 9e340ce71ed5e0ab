package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/cluster/internal/postgres"
	"plantstore/e2e/internal/haproxy"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
)

// A replica is one of several servers on a store, with its own address, at which it can be
// replaced.
type replica struct {
	*plantstore.Server

	options plantstore.Options
	address string
}

// The ports of a replica.
const clientPort, adminPort = 8080, 8081

func startReplica(t *testing.T, storage string, delay time.Duration) *replica {
	t.Helper()
	address := process.Address()
	r := &replica{address: address, options: plantstore.Options{Env: []string{
		"ADDR=" + process.Port(address, clientPort), "ADMIN_ADDR=" + process.Port(address, adminPort),
		"STORAGE_URL=" + storage, "JWT_SECRET=" + secret, "LOG_LEVEL=warn", "SHUTDOWN_DELAY=" + delay.String(),
	}}}
	r.Server = plantstore.Start(t, r.options)
	return r
}

// balance starts HAProxy in front of replicas. It checks their readiness five times a second,
// and never retries a request, so that the client sees each failure.
func balance(t *testing.T, replicas []*replica) (url, socket string) {
	t.Helper()
	address := process.Port(process.Address(), clientPort)
	socket = filepath.Join(t.TempDir(), "stats.sock")
	var config strings.Builder
	fmt.Fprintf(&config, `global
    maxconn 1000
    stats socket %s
defaults
    mode http
    timeout connect 5s
    timeout client 1m
    timeout server 1m
    retries 0
    option httpchk GET /readyz
    http-check expect status 200
    default-server check inter 200ms fall 1 rise 1
frontend clients
    bind %s
    default_backend plantstore
backend plantstore
    balance roundrobin
`, socket, address)
	for i, r := range replicas {
		fmt.Fprintf(&config, "    server r%d %s port %d\n", i, process.Port(r.address, clientPort), adminPort)
	}
	haproxy.Start(t, config.String(), address)
	return "http://" + address, socket
}

// up returns why the HAProxy with that socket does not send requests to a server, or nil.
func up(ctx context.Context, socket, server string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintln(conn, "show stat") // if it fails, so does the read
	stats, err := io.ReadAll(conn)
	if !regexp.MustCompile(`(?m)^plantstore,` + server + `,.*,UP,`).Match(stats) {
		return fmt.Errorf("%s is not up: %w\n%s", server, err, stats)
	}
	return nil
}

// TestReplicasAreReplaced checks that no request fails while three replicas behind a load
// balancer are replaced one after the other.
func TestReplicasAreReplaced(t *testing.T) { //nolint:paralleltest // it loads the machine
	tools.Require(t, "haproxy")
	const delay = 2 * time.Second
	least := int64(plantstore.Torture(10_000, 1_000_000))
	storage := postgres.Start(t, "").URL("plants", "postgres")
	var replicas []*replica
	for range 3 {
		replicas = append(replicas, startReplica(t, storage, delay))
	}
	url, socket := balance(t, replicas)
	s := &site{
		t: t, epoch: time.Now(), client: plantstore.NewClient(t), token: replicas[0].Token(),
		replicas: []*plantstore.Server{{BaseURL: url}}, // the load balancer
	}
	stop := s.load()
	for i, r := range replicas {
		r.Stop()
		r.Server = plantstore.Start(t, r.options)
		server := fmt.Sprint("r", i)
		process.Eventually(t, "HAProxy uses the new replica", func(ctx context.Context) error {
			if r, err := plantstore.Do(ctx, s.client, http.MethodGet, r.AdminURL+"/readyz", ""); err != nil || r.Status != http.StatusOK {
				return fmt.Errorf("not ready: %+v, %w", r, err)
			}
			return up(ctx, socket, server)
		})
		s.await(1000)
	}
	for s.created.Load() < least {
		s.await(1000)
	}
	stop()
	checkResponses(t, s.history)
	for _, o := range s.history {
		if o.outcome == refused || o.outcome == unknown {
			t.Errorf("id %d: %s", o.id, o.response)
		}
	}
	t.Logf("%d plants were created", s.created.Load())
}
