package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/operate"
	"plantstore/storage"
)

func newBrowse(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "browse",
		Usage: "show the plants in a browser",
		Description: "Prints a link to a page that shows the newest plants of a running server as they are created, and\n" +
			"lists and searches all plants. With --ephemeral, the page also shows what clients send.\n" +
			"Until you stop the command, anyone with the link can read all plants, but not change them.\n" +
			"Examples:\n" +
			"  plantstore plants browse\n" +
			"To browse from another machine, forward the port, and open the link there:\n" +
			"  ssh -t -L 8090:127.0.0.1:8090 HOST plantstore plants browse --port 8090",
		Flags: storeFlags(p,
			&cli.Uint16Flag{Name: "port", Config: decimal(), Usage: "`PORT` to listen on, on 127.0.0.1 (default: any free port)", HideDefault: true},
		),
		Action: configured(p, browsePlants),
	}
}

func browsePlants(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	// The first use of the store fails here rather than on the page.
	return withStore(ctx, c, storage.Options{ReadOnly: true}, func(ctx context.Context, store app.Store) error {
		open := openEach(c)
		if c.Storage.Path == "" {
			open = func(context.Context) (operate.Backend, func() error, error) {
				return backendOf(store, app.DataPlace(c.Storage)+", a store over a network"), func() error { return nil }, nil
			}
		} else if err := store.Close(); err != nil {
			return err
		}
		site, err := operate.ListenPage(ctx, int(cmd.Uint16("port")), open)
		if err != nil {
			return fmt.Errorf("%w; choose another port with --port, or omit it for any free port", err)
		}
		if err := printLink(p, site.Link()); err != nil {
			return err
		}
		fmt.Fprintln(p.Stderr, "Anyone with this link can read everything on the page until you press Ctrl-C.")
		return site.Run(ctx)
	})
}

// openTime limits the time for opening the store for a request of the page, which tries again.
const openTime = time.Second

// openEach returns a function that connects to the server of the database, or opens the database, which
// must not stay locked.
func openEach(c *config.Config) operate.OpenFunc {
	return func(ctx context.Context) (operate.Backend, func() error, error) {
		opening, cancel := context.WithTimeout(ctx, openTime)
		defer cancel()
		store, err := app.OpenStore(opening, c, storage.Options{ReadOnly: true})
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("opening %s took longer than %v", app.DataPlace(c.Storage), openTime)
		}
		if err != nil {
			return nil, nil, err
		}
		return backendOf(store, app.DataPlace(c.Storage)+", read from the file: no server runs"), store.Close, nil
	}
}

// backendOf returns the server itself, or else a backend that reads the store of this process.
func backendOf(store app.Store, place string) operate.Backend {
	if client, ok := store.(*operate.Client); ok {
		return client
	}
	own, _ := store.(*storage.Store) // the only other one
	return &operate.Operator{Store: own, Info: operate.Info{Place: place}}
}
