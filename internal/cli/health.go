package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/urfave/cli/v3"
)

// healthTimeout bounds how long health waits for the server.
const healthTimeout = 5 * time.Second

func newHealth(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "health",
		Usage: "exit with 0 if the server at the configured address answers",
		Description: "Meant for the HEALTHCHECK of a container image, which has no other program to ask with.\n" +
			"The address is that of serve: --addr or ADDR.",
		Flags: optionFlags("ADDR"),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			c, err := loadConfig(p, cmd)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(ctx, healthTimeout)
			defer cancel()
			return checkHealth(ctx, reachable(c.Addr))
		},
	}
}

// checkHealth returns nil if the server at baseURL serves its description.
func checkHealth(ctx context.Context, baseURL string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, baseURL+"/openapi.json", http.NoBody)
	if err != nil {
		return err
	}
	// Not the default one, which may ask a proxy.
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		return fmt.Errorf("the server at %s does not answer: %w", baseURL, err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s answers %s", baseURL, response.Status)
	}
	return nil
}

// reachable returns the URL under which this machine reaches a server that
// listens on addr.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	base := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)} // knows IPv6 zones
	return base.String()
}
