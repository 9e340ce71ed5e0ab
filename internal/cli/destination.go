package cli

import (
	"errors"
	"io/fs"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/storage/bbolt"
)

const (
	// standardStream is the name of a file that means stdin or stdout.
	standardStream = "-"
	// filePerm is the mode of the files that commands create: who may read the
	// database may read them.
	filePerm = 0o600
)

// checkDestination refuses to write to a file of this or any other store, or to one that
// a server with this configuration uses.
func checkDestination(file string, c *config.Config) error {
	if what := app.UsedAs(c, file); what != "" {
		return misuse("%s is %s: name another file", file, what)
	}
	if err := bbolt.MayReplace(file); err != nil {
		return misuseBy(err)
	}
	return nil
}

// adviseDestination adds to the error of a file that a command writes how to fix it.
func adviseDestination(err error) error { return app.Advise(err, "create its directory first", "") }

// inAFile refuses what only works on a store that is in a file.
func inAFile(c *config.Config) error {
	if c.Storage.Path == "" {
		return misuse("the plants are not in a file, but in %s: use its own tools for copies", c.Storage.Scheme)
	}
	return nil
}

// reason returns why a file cannot be used, without its name.
func reason(err error) error {
	if failure := new(fs.PathError); errors.As(err, &failure) {
		return failure.Err
	}
	return err
}
