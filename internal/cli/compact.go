package cli

import (
	"context"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/storage/bbolt"
)

func newCompact(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "compact",
		Usage: "compact the database (the server must be stopped)",
		Description: "Rewrites the database without its unused pages. The new file is verified before it replaces\n" +
			"the old one; until then the disk needs space for both.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 the database is corrupt and was not changed.\n" +
			"Examples:\n" +
			"  plantstore compact --json",
		Flags:  storeFlags(jsonFlag(), quietFlag()),
		Action: configured(p, compact),
	}
}

func compact(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	if err := requireFile(c); err != nil {
		return err
	}
	before, after, err := bbolt.Compact(ctx, c.Storage.Path)
	if err != nil {
		return corruptStore(p, app.AdviseLocked(ctx, c.Storage.Path, app.AdviseDatabase(err), ""), "%s is corrupt and was not changed: "+remedy, c.Storage.Path)
	}
	return printResult(p.Stdout, cmd, struct {
		Database string `json:"database"`
		Before   int64  `json:"bytes_before"`
		After    int64  `json:"bytes_after"`
	}{c.Storage.Path, before, after}, "%s had %d bytes and has %d", c.Storage.Path, before, after)
}
