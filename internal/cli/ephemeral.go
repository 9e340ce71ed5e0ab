package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
)

// ephemeral creates the temporary directory of --ephemeral, if it is given, and sets the
// storage URL to a file in it. remove removes the directory.
func ephemeral(p *Process, cmd *cli.Command) (remove func() error, err error) {
	if !cmd.Bool(flagEphemeral) {
		return func() error { return nil }, nil
	}
	for _, flag := range []string{"storage-url", "storage-url-file"} {
		if cmd.IsSet(flag) {
			return nil, misuseOf(cmd, "--ephemeral and --%s are both given; give one of them", flag)
		}
	}
	dir, err := os.MkdirTemp("", "plantstore-")
	if err != nil {
		return nil, fmt.Errorf("--ephemeral: %w; TMPDIR names another place", err)
	}
	remove = p.shutdown.onExit(func() error { return os.RemoveAll(dir) })
	if err := cmd.Set("storage-url", app.BboltScheme+":"+filepath.Join(dir, "plants.db")); err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}
