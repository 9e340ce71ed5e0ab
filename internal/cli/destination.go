package cli

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/storage/bbolt"
)

const (
	// standardStream is the file name for stdin or stdout.
	standardStream = "-"
	// filePerm is the mode of created files, as of the database.
	filePerm = 0o600
)

// checkDestination rejects a file of this or another store, and any file that a server with this
// configuration uses.
func checkDestination(file string, c *config.Config) error {
	if strings.HasSuffix(filepath.ToSlash(file), "/") {
		return misuse("%s is the name of a directory: name a file", file)
	}
	if what := app.UsedAs(c, file); what != "" {
		return misuse("%s is %s: name another file", file, what)
	}
	if err := bbolt.MayReplace(file); err != nil {
		return misuseBy(err)
	}
	return nil
}

// adviseDestination adds a remedy to an error of a written file.
func adviseDestination(err error) error { return app.Advise(err, "create its directory first", "") }

// requireFile returns an error if the plants are not in a file.
func requireFile(c *config.Config) error {
	if c.Storage.Path == "" {
		return misuse("the plants are not in a file but in %s: use its own tools for copies", c.Storage.Scheme)
	}
	return nil
}

// reason returns an error of a file without its name.
func reason(err error) error {
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		return failure.Err
	}
	return err
}
