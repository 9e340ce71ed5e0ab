package cli

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

func newReset(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "reset",
		Usage: "put a running server with --ephemeral back to its seed",
		Description: "Replaces all plants by the seed of the server, in one step: each create happens before or\n" +
			"after it. The server is the one with the admin listener at --admin-addr or ADMIN_ADDR.\n" +
			"Examples:\n" +
			"  plantstore plants reset",
		Flags:  append([]cli.Flag{jsonFlag(), quietFlag()}, optionFlags(p, "ADMIN_ADDR")...),
		Action: configured(p, reset),
	}
}

func reset(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	url, err := configuredAdminURL(c)
	if err != nil {
		return err
	}
	body, err := callAdmin(ctx, http.MethodPost, url, "/reset")
	if err != nil {
		return err
	}
	var result struct {
		Plants int64 `json:"plants"`
	}
	if err := json.Unmarshal(body, &result); err != nil {
		return fmt.Errorf("the server at %s is not a plant store: %w", url, err)
	}
	return printResult(p.Stdout, cmd, result, "reset to the seed: %s", counted(result.Plants, "plant", "plants"))
}

// resetCommand returns the command that resets a server with --ephemeral and the default admin
// listener, for a POSIX shell, empty for another server.
func resetCommand(p *Process, cmd *cli.Command) string {
	if !cmd.Bool("ephemeral") {
		return ""
	}
	return programName(p) + " plants reset"
}
