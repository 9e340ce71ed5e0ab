package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/storage"
)

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
