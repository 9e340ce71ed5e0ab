package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/storage/bbolt"
)

// standardStream is the file name for stdin or stdout.
const standardStream = "-"

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "replace an existing FILE, but never a database or a backup", HideDefault: true}
}

// checkOutput rejects a file that exists, or with force one that must not be replaced, before any
// work is done.
func checkOutput(file string, force bool) error {
	if strings.HasSuffix(filepath.ToSlash(file), "/") {
		return misuse("%s is the name of a directory: name a file", file)
	}
	if err := bbolt.MayReplace(file); err != nil {
		return misuseBy(err)
	}
	if _, err := os.Lstat(file); err == nil && !force {
		return misuse("%s exists: name another file, or replace it with --force", file)
	}
	return nil
}

func adviseOutput(err error) error { return app.Advise(err, "create its directory first", "") }

func requireFile(c *config.Config) error {
	if c.Storage.Path == "" {
		return misuse("the plants are not in a file but in %s: use its own tools for copies", c.Storage.Scheme)
	}
	return nil
}
