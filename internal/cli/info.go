package cli

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/apidocs"
	"plantstore/internal/config"
	"plantstore/internal/operate"
)

func newVersion(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Description: "Examples:\n" +
			"  plantstore version",
		Action: func(context.Context, *cli.Command) error {
			return printVersion(p)
		},
	}
}

func printVersion(p *Process) error {
	_, err := fmt.Fprintf(p.Stdout, "%s %v %s %s/%s\n", p.Name, operate.ReadVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

func newOpenAPI(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "openapi",
		Usage: "print the OpenAPI description of the service",
		Description: "Examples:\n" +
			"  plantstore openapi --format json >openapi.json",
		Flags: append([]cli.Flag{
			choiceFlag("format", "`FORMAT` of the description: yaml or json", "yaml", "yaml", "json"),
		}, optionFlags(p, "ADDR", "BASE_URL")...),
		Action: configured(p, printOpenAPI, "PORT", "TLS_", "ACME_"),
	}
}

func printOpenAPI(_ context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	description, err := apidocs.New(c.ServiceURL(c.Addr))
	if err != nil {
		return err
	}
	document := description.YAML
	if chosen(cmd, "format") == "json" {
		document = description.JSON
	}
	_, err = p.Stdout.Write(document.Bytes())
	return err
}

func newConfig(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "print the effective configuration",
		Description: "Prints the configuration as lines for a .env file. Secrets are printed as REDACTED.\n" +
			"Examples:\n" +
			"  plantstore config | grep ADDR",
		Flags:  optionFlags(p),
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
