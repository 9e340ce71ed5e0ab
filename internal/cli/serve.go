package cli

import (
	"context"
	"errors"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/secretfile"
)

func newServe(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "run the server until SIGTERM or SIGINT",
		Description: "SIGTERM and SIGINT drain requests in flight; a second signal ends SHUTDOWN_DELAY or the process.\n" +
			"Each option can be set in the environment or in .env, too: --addr is ADDR.\n" +
			"Examples:\n" +
			"  plantstore serve\n" +
			"  plantstore serve --ephemeral --seed docs/samples/plants.jsonl\n" +
			otherOptions(),
		Flags:  append(seedFlags(), allOptionFlags()...),
		Action: func(ctx context.Context, cmd *cli.Command) error { return serve(ctx, p, cmd) },
	}
}

func serve(ctx context.Context, p *Process, cmd *cli.Command) error {
	if err := ephemeral(p, cmd); err != nil {
		return err
	}
	var exposed []secretfile.Exposure // for the log
	c, err := loadConfig(p, cmd, func(e secretfile.Exposure) { exposed = append(exposed, e) })
	if err != nil {
		return err
	}
	if err := errors.Join(c.CheckServe(), c.CheckFaults(cmd.Bool(flagEphemeral))); err != nil {
		return misuseBy(err)
	}
	server, err := app.Open(ctx, c, app.Options{
		Version: p.Version.Release, Environ: p.environ(), Stdout: p.Stdout, Stderr: p.Stderr,
		TokenCommand: tokenCommand(p, c), Ephemeral: cmd.Bool(flagEphemeral), ResetCommand: resetCommand(p, cmd, c), Seed: cmd.String(flagSeed),
		Exposed: exposed,
	})
	if err != nil {
		return err
	}
	if err := seed(ctx, p, cmd, c, server); err != nil {
		return errors.Join(err, server.Close())
	}
	p.shutdown.removeLimit()
	return errors.Join(server.Run(ctx), server.Close())
}
