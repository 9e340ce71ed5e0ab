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

	"plantstore/internal/app"
	"plantstore/internal/config"
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
		Description: "Queries /readyz of the admin listener: at --admin-addr or ADMIN_ADDR, or else of the server that\n" +
			"runs on the database. It is meant for the HEALTHCHECK of a container image.\n" +
			"Exit codes: 0 ready, 1 not ready or unreachable, 2 misused or not an admin listener.\n" +
			"Examples:\n" +
			"  plantstore health --admin-addr 127.0.0.1:8081",
		Flags:  append(storeFlags(p), optionFlags(p, "ADMIN_ADDR")...),
		Action: configured(p, health),
	}
}

func health(ctx context.Context, _ *Process, _ *cli.Command, c *config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	adminURL, err := adminURL(ctx, c)
	if err != nil {
		return err
	}
	_, err = callAdmin(ctx, http.MethodGet, adminURL, "/readyz")
	return err
}

// adminURL returns the URL of the admin listener: ADMIN_ADDR if it is given, or else the URL that
// the server on this database reports, since another server may have the default address.
func adminURL(ctx context.Context, c *config.Config) (string, error) {
	if _, given := c.Given("ADMIN_ADDR"); !given {
		switch server, _ := app.RunningServer(ctx, c.Storage.Path); {
		case server.AdminURL != "":
			return server.AdminURL, nil
		case server.NoAdmin != "":
			return "", fmt.Errorf("the server that runs on %s has no admin listener: %s; restart it with another --admin-addr", c.Storage.Path, server.NoAdmin)
		}
	}
	return configuredAdminURL(c)
}

// configuredAdminURL returns the URL of the admin listener at ADMIN_ADDR.
func configuredAdminURL(c *config.Config) (string, error) {
	if _, port, _ := net.SplitHostPort(c.AdminAddr); strings.Trim(port, "0") == "" { // off, or any free port
		return "", misuse("ADMIN_ADDR is %s: name the admin listener, admin_url in the server's ready record, with --admin-addr", cmp.Or(c.AdminAddr, "off"))
	}
	return config.LocalURL("http", c.AdminAddr), nil
}

// callAdmin sends a request to the admin listener at adminURL, and returns the body of its response.
// Its error has the message of the Error.
func callAdmin(ctx context.Context, method, adminURL, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, adminURL+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	// Unlike the default transport, this one uses no proxy.
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("the server at %s does not respond: %w", adminURL, err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAdmin))
	if err != nil {
		return nil, fmt.Errorf("the response of the server at %s is not complete: %w", adminURL, err)
	}
	if response.StatusCode == http.StatusOK {
		return body, nil
	}
	var failure models.Error
	if err := json.Unmarshal(body, &failure); err != nil || failure.Message == "" {
		return nil, fmt.Errorf("the server at %s responds with %s", adminURL, response.Status)
	}
	if failure.Code == models.CodeNotFound || failure.Code == models.CodeBadRequest { // an admin listener has the path, and speaks plain HTTP
		return nil, misuse("%s is the address for clients: name the admin listener with --admin-addr or ADMIN_ADDR", adminURL)
	}
	return nil, errors.New(failure.Message)
}
