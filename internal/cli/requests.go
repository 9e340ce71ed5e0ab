package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/internal/requests"
	"plantstore/storage"
)

// followWait is how long a query of --follow waits for a request.
const followWait = 30 * time.Second

func newRequests(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "requests",
		Usage: "show what clients have sent to a running server with --ephemeral",
		Description: "Prints the last 200 requests, oldest first, and what was wrong with them. Tokens are left out, and\n" +
			"only the first 8 KiB of a body are kept. Other servers keep no requests.\n" +
			"Examples:\n" +
			"  plantstore requests --follow\n" +
			"  plantstore requests --errors --verbose --limit 1",
		Flags: storeFlags(p,
			&cli.BoolFlag{Name: "follow", Usage: "wait for more until Ctrl-C", HideDefault: true},
			&cli.BoolFlag{Name: "errors", Usage: "only requests that were refused or failed", HideDefault: true},
			&cli.StringFlag{Name: "subject", Usage: "only requests with a token of this `subject`"},
			&cli.Uint16Flag{Name: "limit", Config: decimal(), Usage: "only the last `N` requests", HideDefault: true},
			&cli.BoolFlag{Name: "verbose", Usage: "print headers and bodies, too", HideDefault: true},
			jsonFlag(),
		),
		Action: configured(p, printRequests),
	}
}

func printRequests(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	server, err := requireServer(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }() // it has responded
	for after, wait := int64(0), time.Duration(0); ; wait = followWait {
		all, err := server.Requests(ctx, after, wait)
		switch {
		case err == nil && len(all) > 0:
			after = all[len(all)-1].Number
		case wait > 0 && ctx.Err() != nil: // Ctrl-C
			return nil
		case wait > 0 && errors.Is(err, storage.ErrUnavailable):
			return errors.New("the server has ended")
		case err != nil:
			return err
		}
		all = slices.DeleteFunc(all, func(r requests.Request) bool {
			return cmd.Bool("errors") && r.Error == 0 || cmd.IsSet("subject") && r.Subject != cmd.String("subject")
		})
		if limit := int(cmd.Uint16("limit")); wait == 0 && cmd.IsSet("limit") {
			all = all[max(0, len(all)-limit):]
		}
		for _, r := range all {
			for _, line := range describe(cmd, r) {
				if _, err := fmt.Fprintln(p.Stdout, line); err != nil {
					return err
				}
			}
		}
		if !cmd.Bool("follow") {
			return nil
		}
	}
}

// describe returns the lines for a request.
func describe(cmd *cli.Command, r requests.Request) (lines []string) {
	if cmd.Bool("json") {
		r.Lines = nil
		text, _ := json.Marshal(r) // its text is valid UTF-8
		return []string{string(text)}
	}
	add := func(format string, args ...any) { lines = append(lines, logging.Line(fmt.Sprintf(format, args...))) }
	text := fmt.Sprintln(r.Time.Local().Format("15:04:05.000"), cmp.Or(r.Method, "(not HTTP)"), r.Target, cmp.Or(r.Error, r.Status), r.Message)
	if r.Subject != "" {
		text += "(" + r.Subject + ")"
	}
	add("%s", strings.Join(strings.Fields(text), " "))
	if !cmd.Bool("verbose") || r.Method == "" {
		return lines
	}
	add("  %s %s %s", r.Method, r.Target, r.Version)
	for _, field := range r.Header {
		add("  %s: %s", field.Name, field.Value)
	}
	if r.Lines != nil {
		add("")
	}
	for _, line := range r.Lines {
		mark := " "
		if line.Marked {
			mark = ">"
		}
		add("%s %s", mark, line.Text)
	}
	return append(lines, "")
}
