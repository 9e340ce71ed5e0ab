package cli

import (
	"context"

	"github.com/urfave/cli/v3"

	"plantstore/internal/apidocs"
	"plantstore/internal/config"
)

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
