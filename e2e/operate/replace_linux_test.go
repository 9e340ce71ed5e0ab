package operate

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/postgres"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
)

// signingSecret signs the tokens of all replicas.
const signingSecret = "a secret of the tests, long enough for HS256"

// A tally is a group of clients that create plants, each over a connection that they keep if the
// server does, with the outcomes.
type tally struct {
	url, token string
	client     *http.Client
	next       atomic.Int64 // id
	created    atomic.Int64

	mu     sync.Mutex
	failed map[string]int // failed requests, by the reason

	ended atomic.Bool // send no further request
	wg    sync.WaitGroup
}

// startTally starts clients.
func startTally(t *testing.T, url, token string, clients int) *tally {
	t.Helper()
	c := &tally{
		url: url, token: token, failed: make(map[string]int),
		client: &http.Client{Timeout: process.Patience, Transport: &http.Transport{MaxIdleConnsPerHost: clients}},
	}
	for range clients {
		c.wg.Go(func() {
			for !c.ended.Load() {
				c.create(c.next.Add(1))
			}
		})
	}
	t.Cleanup(func() {
		c.end()
		c.client.CloseIdleConnections()
	})
	return c
}

// end lets all clients finish their requests.
func (c *tally) end() {
	c.ended.Store(true)
	c.wg.Wait()
}

// fail counts a failed request.
func (c *tally) fail(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed[reason]++
}

// failures returns the number of failed requests. It is called after end.
func (c *tally) failures() (n int) {
	for _, count := range c.failed {
		n += count
	}
	return n
}

// create creates a plant.
func (c *tally) create(id int64) {
	body := fmt.Sprintf(`{"id":%d,"name":"Monstera number %d"}`, id, id)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+"/plants", strings.NewReader(body))
	if err != nil {
		c.fail(err.Error())
		return
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		c.fail("no response: " + err.Error())
		return
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		c.fail("half a response: " + err.Error())
	case response.StatusCode == http.StatusOK:
		c.created.Add(1)
	default:
		c.fail(fmt.Sprintf("status %d: %s", response.StatusCode, text))
	}
}

// A replica is one of several servers on a store, with its own address, at which it can be
// replaced.
type replica struct {
	*plantstore.Server

	options plantstore.Options
	address string
}

// The ports of a replica.
const (
	clientPort = 8080
	adminPort  = 8081
)

func startReplica(t *testing.T, storage string, delay time.Duration) *replica {
	t.Helper()
	address := process.Address()
	r := &replica{address: address, options: plantstore.Options{Env: []string{
		"ADDR=" + process.Port(address, clientPort), "ADMIN_ADDR=" + process.Port(address, adminPort),
		"STORAGE_URL=" + storage, "JWT_SECRET=" + signingSecret, "LOG_LEVEL=warn", "SHUTDOWN_DELAY=" + delay.String(),
	}}}
	r.Server = plantstore.Start(t, r.options)
	return r
}

// ready returns why a load balancer would not send requests to the replica, or nil.
func (r *replica) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+process.Port(r.address, adminPort)+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", response.Status)
	}
	return nil
}

// balance starts HAProxy in front of replicas. It checks their readiness five times a second,
// and never retries a request, so that the client sees each failure.
func balance(t *testing.T, replicas []*replica) (url string, stats func() string) {
	t.Helper()
	program, dir, address := tools.Require(t, "haproxy"), t.TempDir(), process.Port(process.Address(), clientPort)
	socket := filepath.Join(dir, "stats.sock")
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
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	process.Start(t, dir, exec.CommandContext(context.Background(), program, "-db", "-f", file))
	process.Eventually(t, "HAProxy accepts connections", func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	return "http://" + address, func() string { return haproxyStats(t, socket) }
}

// haproxyStats returns the state of all servers, as CSV.
func haproxyStats(t *testing.T, socket string) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintln(conn, "show stat")
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// up returns why HAProxy does not send requests to a server, or nil.
func up(stats, server string) error {
	for line := range strings.Lines(stats) {
		if strings.HasPrefix(line, "plantstore,"+server+",") && strings.Contains(line, ",UP,") {
			return nil
		}
	}
	return fmt.Errorf("%s is not up:\n%s", server, stats)
}

// TestReplicasAreReplaced checks that no request fails while three replicas behind a load
// balancer are replaced one after the other.
func TestReplicasAreReplaced(t *testing.T) { //nolint:paralleltest // it loads the machine for half a minute
	tools.Require(t, "haproxy")
	const clients, delay = 64, 2 * time.Second
	least := int64(plantstore.Torture(100_000, 1_000_000))
	storage := postgres.Start(t, "").URL("plants", "postgres")
	var replicas []*replica
	for range 3 {
		replicas = append(replicas, startReplica(t, storage, delay))
	}
	url, stats := balance(t, replicas)
	load := startTally(t, url, replicas[0].Token(), clients)
	for i, r := range replicas {
		created := load.created.Load()
		r.Stop()
		r.Server = plantstore.Start(t, r.options)
		server := fmt.Sprint("r", i)
		process.Eventually(t, "HAProxy uses the new replica", func(ctx context.Context) error {
			if err := r.ready(ctx); err != nil {
				return err
			}
			return up(stats(), server)
		})
		await(t, "creates go on", func() bool { return load.created.Load() > created+1000 })
	}
	await(t, "the load", func() bool { return load.created.Load() >= least })
	load.end()
	if n := load.failures(); n > 0 {
		t.Errorf("%d of %d requests failed: %v", n, load.next.Load(), load.failed)
	}
	t.Logf("%d plants were created", load.created.Load())
}
