package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

func newConfig(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "print the effective configuration",
		Description: "Prints lines for a .env file that load back to the same configuration, except for secrets, which\n" +
			"are printed as REDACTED.\n" +
			"Examples:\n" +
			"  plantstore config | grep ADDR\n" +
			otherOptions(),
		Flags: allOptionFlags(),
		Action: func(_ context.Context, cmd *cli.Command) error {
			c, err := loadServerConfig(p, cmd)
			if err != nil {
				return err
			}
			if names := c.Misspelled(); names != "" {
				fmt.Fprintln(p.Stderr, "plantstore: .env has unknown names:", names)
			}
			for _, exposure := range c.Exposed {
				reportOnStderr(p)(exposure)
			}
			_, err = fmt.Fprintln(p.Stdout, strings.Join(c.Lines(), "\n"))
			return err
		},
	}
}
