package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
	"plantstore/internal/files"
	"plantstore/internal/operate"
	"plantstore/models"
)

const (
	// healthTimeout is the time limit for the response.
	healthTimeout = 5 * time.Second
	// maxAdmin is the maximum size of a response of the admin listener in bytes.
	maxAdmin = 64 << 10
)

func newHealth(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "health",
		Usage: "check that the server is ready to create plants",
		Description: "Queries the server of the database through its control socket, or at ADMIN_ADDR if there is none: the\n" +
			"database is over a network, or sockets are not possible next to it. Use it as the HEALTHCHECK of a\n" +
			"container.\n" +
			"Exit codes: 0 ready, 1 not ready or unreachable, 2 misused or not an admin listener.\n" +
			"Examples:\n" +
			"  plantstore health",
		Flags:  storeFlags(p),
		Action: configured(p, health, "ADMIN_ADDR"),
	}
}

func health(ctx context.Context, _ *Process, _ *cli.Command, c *config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if c.Storage.Path == "" || !files.CanListen(ctx, operate.SocketPath(c.Storage.Path)) {
		return adminHealth(ctx, c)
	}
	client, err := requireServer(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // it has responded
	return client.Ready(ctx)
}

// adminHealth queries /readyz of the admin listener at ADMIN_ADDR.
func adminHealth(ctx context.Context, c *config.Config) error {
	if _, port, _ := net.SplitHostPort(c.AdminAddr); strings.Trim(port, "0") == "" { // off, or any free port
		return misuse("ADMIN_ADDR is %s: set it to the address of the admin listener", cmp.Or(c.AdminAddr, "off"))
	}
	adminURL := config.LocalURL("http", c.AdminAddr)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, adminURL+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	// Unlike the default transport, this one uses no proxy.
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return fmt.Errorf("the server at %s does not respond: %w", adminURL, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var failure models.Error
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxAdmin)) // an incomplete one is not an Error
	if err := json.Unmarshal(body, &failure); err != nil || failure.Message == "" {
		return fmt.Errorf("the server at %s responds with %s", adminURL, response.Status)
	}
	if failure.Code != models.CodeUnavailable { // an admin listener has the path, and speaks plain HTTP
		return misuse("%s is the address for clients: set ADMIN_ADDR to the admin listener", adminURL)
	}
	return errors.New(failure.Message)
}
