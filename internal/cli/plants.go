package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"syscall"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/internal/operate"
	"plantstore/internal/plantio"
	"plantstore/storage"
)

// remedy is the advice for a corrupt database.
const remedy = "restore a backup"

// withStore opens the store, or connects to the server that has it open, and calls run.
func withStore(ctx context.Context, c *config.Config, o storage.Options, run func(context.Context, app.Store) error) (err error) {
	store, err := app.OpenStore(ctx, c, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	err = run(ctx, store)
	if errors.Is(err, storage.ErrCorrupt) {
		return findings("%v: %s", err, remedy)
	}
	return err
}

// requireServer returns the client of the server of the database, which must run.
func requireServer(ctx context.Context, c *config.Config) (*operate.Client, error) {
	client, err := app.Connect(ctx, c.Storage.Path)
	switch {
	case !errors.Is(err, operate.ErrNoServer):
		return client, err
	case errors.Is(err, fs.ErrPermission): // a server may run
		return nil, app.AdviseRead(&fs.PathError{Op: "connect", Path: operate.SocketPath(c.Storage.Path), Err: syscall.EACCES}, "")
	}
	return nil, fmt.Errorf("no server runs on %s: start one, or run this in its working directory, with the same --storage-url", app.DataPlace(c.Storage))
}

// fileFormat returns the format of --format, or else by the file name.
func fileFormat(cmd *cli.Command, file string) plantio.Format {
	switch chosen(cmd, "format") {
	case "jsonl", "json", "table":
		return plantio.JSONLines
	case "csv":
		return plantio.CSV
	}
	return plantio.FormatOf(file)
}

// printPlants prints the plants that read passes to each, in the format of --format.
func printPlants(
	ctx context.Context, p *Process, cmd *cli.Command, c *config.Config,
	read func(ctx context.Context, store app.Store, each func(storage.Record) error) error,
) error {
	out := plantio.NewWriter(p.Stdout, fileFormat(cmd, ""))
	if name := chosen(cmd, "format"); name == "table" || name == "" && logging.IsTerminal(p.Stdout) {
		out = plantio.NewTable(p.Stdout, logging.TerminalWidth(p.Stdout))
	}
	return withStore(ctx, c, storage.Options{ReadOnly: true}, func(ctx context.Context, store app.Store) error {
		if err := read(ctx, store, out.Write); err != nil {
			_ = out.Flush() // best effort: the plants before the error
			return err
		}
		return out.Flush()
	})
}

func newList(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "print plants in ascending order of their ids",
		Description: "On a terminal, prints the first 100 plants unless you set --limit.\n" +
			"Examples:\n" +
			"  plantstore plants list --limit 20\n" +
			"  plantstore plants list --after 4711 --tag climber --format csv",
		Flags: storeFlags(p,
			&cli.Int64Flag{Name: "after", Value: math.MinInt64, Config: decimal(), Usage: "only plants whose id is greater than `ID`", HideDefault: true},
			&cli.Int64Flag{Name: "limit", Config: decimal(), Usage: "at most `N` plants", HideDefault: true},
			&cli.StringFlag{Name: "tag", Usage: "only plants with this `TAG`"},
			formatFlag(),
		),
		Action: configured(p, list),
	}
}

// terminalPlants is how many plants list prints on a terminal without --limit.
const terminalPlants = 100

func list(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	limit, preview := cmd.Int64("limit"), false
	switch {
	case limit < 0:
		return misuse("--limit: %d: must not be negative", limit)
	case cmd.IsSet("limit"):
	case logging.IsTerminal(p.Stdout):
		limit, preview = terminalPlants, true
	default:
		limit = math.MaxInt64
	}
	from := cmd.Int64("after")
	switch { // the plant --after itself may be corrupt, and is not read
	case from == math.MaxInt64:
		limit = 0
	case cmd.IsSet("after"):
		from++
	}
	shown, last, more := int64(0), int64(0), false
	read, before := false, int64(0) // of the plant that was read last, shown or not
	err := printPlants(ctx, p, cmd, c, func(ctx context.Context, store app.Store, each func(storage.Record) error) error {
		for record, err := range store.List(ctx, from) {
			if err != nil && read && !errors.As(err, new(*storage.CorruptError)) { // which names its plant
				return fmt.Errorf("%w; the last plant before it has the id %d", err, before)
			}
			if err != nil {
				return err
			}
			read, before = true, record.ID
			if tag := record.Plant.Tag; cmd.IsSet("tag") && (tag == nil || *tag != cmd.String("tag")) {
				continue
			}
			if more = shown == limit; more {
				return nil
			}
			if err := each(record); err != nil {
				return err
			}
			shown, last = shown+1, record.ID
		}
		return nil
	})
	if err == nil && shown == 0 {
		sayNothing(p, "no plants to show")
	}
	if err == nil && preview && more {
		_, err = fmt.Fprintf(p.Stderr, "%s: these are the first %d; continue with --after %d, or raise --limit\n", p.Name, terminalPlants, last)
	}
	return err
}

func newGet(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "get",
		Usage:     "print the plant with an id",
		ArgsUsage: "ID",
		Description: "Examples:\n" +
			"  plantstore plants get -9223372036854775808",
		Flags:        storeFlags(p, formatFlag()),
		ArgValidator: arguments(1, 1),
		Action:       configured(p, get),
	}
}

func get(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	id, err := strconv.ParseInt(cmd.Args().First(), 10, 64)
	if err != nil {
		return misuseOf(cmd, "ID must be an integer of 64 bits") // not the argument: perhaps a URL with a password (C4.25)
	}
	return printPlants(ctx, p, cmd, c, func(ctx context.Context, store app.Store, each func(storage.Record) error) error {
		plant, err := store.Get(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return fmt.Errorf("no plant has the id %d", id)
		}
		if err != nil {
			return err
		}
		return each(storage.Record{ID: id, Plant: plant})
	})
}

func newCount(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "count",
		Usage: "print the number of plants",
		Description: "Prints the number that the database keeps. Over a network, counts all plants.\n" +
			"Examples:\n" +
			"  plantstore plants count --json",
		Flags:  storeFlags(p, jsonFlag()),
		Action: configured(p, count),
	}
}

func count(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	return withStore(ctx, c, storage.Options{ReadOnly: true}, func(ctx context.Context, store app.Store) error {
		plants, err := store.Count(ctx)
		if err != nil {
			return err
		}
		return printResult(p.Stdout, cmd, map[string]int64{"plants": plants}, "%d", plants)
	})
}

func newReset(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "reset",
		Usage: "reset a running server with --ephemeral to its seed",
		Description: "Replaces all plants with the seed of the server, in one step.\n" +
			"Examples:\n" +
			"  plantstore plants reset",
		Flags:  storeFlags(p, jsonFlag(), quietFlag()),
		Action: configured(p, reset),
	}
}

func reset(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	client, err := requireServer(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // it has responded
	plants, err := client.Reset(ctx)
	if err != nil {
		return err
	}
	return printResult(p.Stdout, cmd, map[string]int64{"plants": plants}, "reset to the seed: %s", counted(plants, "plant", "plants"))
}
