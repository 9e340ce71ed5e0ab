package main

import (
	"cmp"
	"errors"
	"strings"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/files"
)

// storageOptions returns the options for the location of the plants.
func storageOptions() []config.Option {
	return []config.Option{
		config.StorageURL("`URL` of the plants: etcd://HOST/PREFIX, postgres://HOST/DB, bbolt:PATH or PATH"),
		{
			Env: "STORAGE_URL_FILE", Flag: "storage-url-file", Instead: "STORAGE_URL",
			Help: "`FILE` with the storage URL, for one with a password",
			Set:  readStorageURL,
		},
	}
}

// readStorageURL sets the storage URL of c to the one line of the file at path. Its errors do
// not repeat the line.
func readStorageURL(c *config.Config, path string) error {
	contents, err := files.ReadSecret(path)
	if err != nil {
		return app.AdviseRead(err, "name the file with the storage URL")
	}
	line := strings.TrimSuffix(strings.TrimSuffix(string(contents), "\n"), "\r")
	if err := cmp.Or(config.CheckText(line), c.SetStorageURL(line)); err != nil {
		return errors.New("it must hold one line with a storage URL: " + err.Error())
	}
	return nil
}
