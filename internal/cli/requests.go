package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/internal/requests"
)

func newRequests(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "requests",
		Usage: "show what clients have sent to a running server with --ephemeral",
		Description: "Prints the last 200 requests, oldest first, and what was wrong with them. Of headers, it leaves out\n" +
			"credentials, of bodies only tokens and what follows 8 KiB. Other servers keep no requests.\n" +
			"Examples:\n" +
			"  plantstore requests --follow\n" +
			"  plantstore requests --errors --verbose --limit 1",
		Flags: storeFlags(p,
			&cli.BoolFlag{Name: "follow", Usage: "wait for more until Ctrl-C", HideDefault: true},
			&cli.BoolFlag{Name: "errors", Usage: "only requests that were refused or failed", HideDefault: true},
			&cli.StringFlag{Name: "subject", Usage: "only requests with a token of this `SUBJECT`"},
			&cli.Uint16Flag{Name: "limit", Config: decimal(), Usage: "only the last `N` requests", HideDefault: true},
			&cli.BoolFlag{Name: "verbose", Usage: "print headers and bodies, too", HideDefault: true},
			jsonFlag(),
		),
		Action: configured(p, printRequests),
	}
}

func printRequests(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	var seen position
	for first := true; first || cmd.Bool("follow"); first = false {
		all, err := keptRequests(ctx, c, &seen)
		if cmd.Bool("follow") && ctx.Err() != nil {
			return nil //nolint:nilerr // by Ctrl-C
		}
		if err != nil {
			return err
		}
		shown := slices.DeleteFunc(all, func(r requests.Request) bool {
			return cmd.Bool("errors") && r.Error == 0 || cmd.IsSet("subject") && r.Subject != cmd.String("subject")
		})
		if first && cmd.IsSet("limit") {
			shown = shown[max(0, len(shown)-int(cmd.Uint16("limit"))):]
		}
		if first && len(shown) == 0 {
			sayNothing(p, "no requests to show yet")
		}
		for _, r := range shown {
			if _, err := fmt.Fprint(p.Stdout, describe(cmd, r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// A position is that of a follower: the last request that it has seen, and when the server of it started.
// Another server counts from 1 again.
type position struct {
	number int64
	server time.Time
	wait   time.Duration // of the next query: the first one does not wait
}

// query returns the query for later requests of the server that started then.
func (p *position) query(server time.Time) string {
	if !server.Equal(p.server) {
		p.number, p.server = 0, server
	}
	query := fmt.Sprintf("after=%d&wait=%v", p.number, p.wait)
	p.wait = 30 * time.Second
	return query
}

// keptRequests returns the requests that the server of the database keeps after a position, and moves it.
func keptRequests(ctx context.Context, c *config.Config, p *position) ([]requests.Request, error) {
	client, err := requireServer(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }() // it has responded
	all, err := client.Requests(ctx, p.query(client.Info().Started))
	if len(all) > 0 {
		p.number = all[len(all)-1].Number
	}
	return all, err
}

// describe returns the lines for a request.
func describe(cmd *cli.Command, r requests.Request) string {
	if cmd.Bool("json") {
		r.Lines = nil
		text, _ := json.Marshal(r) // its text is valid UTF-8
		return string(text) + "\n"
	}
	what := r.Message
	if what == "" && r.PlantID != "" {
		what = "id " + r.PlantID
	}
	for _, note := range r.Notes {
		what += "; note: " + note
	}
	text := fmt.Sprintln(r.Time.Local().Format("15:04:05.000"), cmp.Or(r.Method, "(header refused)"), r.Target, cmp.Or(r.Error, r.Status), what, "("+r.Subject+")")
	lines := []string{strings.TrimSuffix(strings.Join(strings.Fields(text), " "), " ()")}
	if cmd.Bool("verbose") && r.Method != "" {
		lines = slices.Concat(lines, r.Lines, []string{""})
	}
	for i, line := range lines {
		lines[i] = logging.Line(line) + "\n"
	}
	return strings.Join(lines, "")
}
