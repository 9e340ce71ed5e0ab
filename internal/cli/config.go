package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

func newConfig(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "print the effective configuration",
		Description: "Prints the configuration as lines for a .env file. Secrets are printed as REDACTED.\n" +
			"Examples:\n" +
			"  plantstore config | grep ADDR",
		Flags:  allOptionFlags(p),
		Action: configured(p, printConfig, ""),
	}
}

func printConfig(_ context.Context, p *Process, _ *cli.Command, c *config.Config) error {
	if err := misuseBy(c.CheckServe()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.Stdout, strings.Join(c.Lines(), "\n"))
	return err
}
