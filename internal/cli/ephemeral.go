package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
)

// ephemeral creates the temporary directory of --ephemeral, if it is given, and sets the
// storage URL to a file in it.
func ephemeral(p *Process, cmd *cli.Command) error {
	if !cmd.Bool(flagEphemeral) {
		return nil
	}
	for _, flag := range []string{"storage-url", "storage-url-file"} {
		if cmd.IsSet(flag) {
			return misuseOf(cmd, "--ephemeral and --%s are both given; give one of them", flag)
		}
	}
	dir, err := os.MkdirTemp("", "plantstore-")
	if err != nil {
		return fmt.Errorf("--ephemeral: %w; TMPDIR names another place", err)
	}
	p.shutdown.temporary.Store(&dir)
	return cmd.Set("storage-url", app.BboltScheme+":"+filepath.Join(dir, "plants.db"))
}
