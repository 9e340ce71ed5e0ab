package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/plantio"
	"plantstore/storage"
)

func newServe(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "run the server until SIGTERM or SIGINT",
		Description: "On SIGTERM or SIGINT, drains requests and exits. A second signal exits at once, or, during\n" +
			"SHUTDOWN_DELAY, ends only the delay. Set JWT_SECRET and PORT in the environment: they have no flag.\n" +
			"Examples:\n" +
			"  plantstore serve\n" +
			"  plantstore serve --ephemeral --seed docs/samples/plants.jsonl",
		Flags: append([]cli.Flag{ // the first two are for demonstrations and concern no other command
			&cli.BoolFlag{Name: "ephemeral", Usage: "keep the plants in a temporary directory, and remove it at exit", HideDefault: true},
			&cli.StringFlag{Name: "seed", Usage: "import `FILE` (JSON Lines, a JSON array or CSV) before serving; taken ids are skipped"},
		}, allOptionFlags(p)...),
		Action: func(ctx context.Context, cmd *cli.Command) error { return serve(ctx, p, cmd) },
	}
}

func serve(ctx context.Context, p *Process, cmd *cli.Command) (err error) {
	temporary, err := ephemeral(p, cmd)
	if err != nil {
		return err
	}
	if temporary.Path != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(temporary.Path))) }()
	}
	c, misspelled, err := loadConfig(p, cmd, "")
	if err == nil {
		err = misuseBy(errors.Join(c.CheckServe(), c.CheckFaults(cmd.Bool("ephemeral"))))
	}
	var server *app.App
	if err == nil {
		server, err = openServer(ctx, p, cmd, c, temporary)
	}
	if err != nil {
		printMisspelled(p, misspelled) // there is no log
		return err
	}
	server.Notice(func(logger *slog.Logger) {
		for _, m := range misspelled {
			logger.Warn("misspelled option", "name", m.name, "source", m.source, "hint", "did you mean "+m.option+"?")
		}
	})
	return errors.Join(server.Run(ctx), server.Close())
}

// openServer returns the server with its seed.
func openServer(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config, temporary storage.Location) (*app.App, error) {
	server, err := app.Open(ctx, c, app.Inputs{
		Environ: p.environ(), Stderr: p.Stderr,
		TokenCommand: tokenCommand(p, c), Ephemeral: temporary,
		Command: func(words ...string) string { return storeCommand(p, c, words...) },
	})
	if err != nil {
		return nil, err
	}
	if err := seed(ctx, p, cmd, c, server); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return server, nil
}

// ephemeral creates the temporary directory of --ephemeral, if it is given, and returns the database
// in it.
func ephemeral(p *Process, cmd *cli.Command) (storage.Location, error) {
	if !cmd.Bool("ephemeral") {
		return storage.Location{}, nil
	}
	for _, o := range p.options() {
		if slices.Contains(storageOptions(p), o.Env) && cmd.IsSet(o.Flag) {
			return storage.Location{}, misuseOf(cmd, "--ephemeral and --%s are both set; set only one of them", o.Flag)
		}
	}
	dir, err := os.MkdirTemp("", "plantstore-")
	if err != nil {
		return storage.Location{}, fmt.Errorf("--ephemeral: %w; set TMPDIR to another directory", err)
	}
	return storage.ParseURL(storage.DefaultScheme + ":" + filepath.Join(dir, "plants.db"))
}

func seed(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config, server *app.App) error {
	file := cmd.String("seed")
	if !cmd.IsSet("seed") {
		return nil
	}
	if file == "" {
		return misuseOf(cmd, "--seed needs the name of a file")
	}
	i := &importer{p: p, cmd: cmd, maxBytes: c.MaxBodyBytes, Importer: plantio.Importer{SkipConflicts: true, Create: server.Store().CreateAll}}
	if err := i.importFile(ctx, file); err != nil {
		return fmt.Errorf("--seed: %w", err)
	}
	if i.Summary.Bad > 0 {
		return findings("--seed: %s has %s: fix the file and start again", file, counted(i.Summary.Bad, "bad line", "bad lines"))
	}
	server.Notice(func(logger *slog.Logger) {
		logger.Info("seeded", "file", file, "created", i.Summary.Created, "identical", i.Summary.Identical, "skipped", i.Summary.Skipped)
	})
	return nil
}
