package cli

import (
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
	"plantstore/models"
)

const (
	// healthTimeout bounds how long health waits for the server.
	healthTimeout = 5 * time.Second
	// maxHealth bounds the answer, in bytes.
	maxHealth = 64 << 10
)

func newHealth(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "health",
		Usage: "exit with 0 if the server of this configuration is ready to create plants",
		Description: "Meant for the HEALTHCHECK of a container image, which has no other program to ask with.\n" +
			"It asks /readyz of the admin listener: --admin-addr or ADMIN_ADDR, as for serve.\n" +
			"Exit codes: 0 ready, 1 not ready or no answer, 2 misused, as with the address for clients.",
		Flags: optionFlags("ADMIN_ADDR"),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			c, err := loadConfig(p, cmd)
			if err != nil {
				return err
			}
			if err := checkAsked(c.AdminAddr); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(ctx, healthTimeout)
			defer cancel()
			return checkHealth(ctx, config.LocalURL("http", c.AdminAddr))
		},
	}
}

// checkAsked refuses an admin address at which nobody can be asked.
func checkAsked(adminAddr string) error {
	if adminAddr == "" {
		return misuse("ADMIN_ADDR is off: there is nobody to ask; give the server an admin listener, such as 127.0.0.1:8081")
	}
	if _, port, _ := net.SplitHostPort(adminAddr); strings.Trim(port, "0") == "" {
		return misuse("ADMIN_ADDR is %s: with port 0 the server takes a free one; "+
			"name that one with --admin-addr, as admin_url in the server's ready record has it", adminAddr)
	}
	return nil
}

// checkHealth returns nil if the server whose admin listener is at adminURL is
// ready, else why it is not.
func checkHealth(ctx context.Context, adminURL string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, adminURL+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	// Not the default one, which may ask a proxy.
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return fmt.Errorf("the server at %s does not answer: %w", adminURL, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	var failure models.Error
	if err := json.UnmarshalRead(io.LimitReader(answer.Body, maxHealth), &failure); err != nil || failure.Message == "" {
		return fmt.Errorf("the server at %s answers %s", adminURL, answer.Status)
	}
	if failure.Code == models.CodeNotFound || failure.Code == models.CodeBadRequest { // an admin listener has the path, and speaks plain HTTP
		return misuse("%s is the address for clients: name that of the admin listener with --admin-addr or ADMIN_ADDR", adminURL)
	}
	return errors.New(failure.Message)
}
