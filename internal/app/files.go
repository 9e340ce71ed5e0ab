package app

import (
	"os"
	"path/filepath"

	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/storage/bbolt"
)

// A File is a file that the program reads or writes.
type File struct{ Path, What string }

// DatabaseFiles lists a database and the files next to it.
func DatabaseFiles(database string) []File {
	return []File{
		{database, "the database itself"},
		{bbolt.WatermarkPath(database), "the watermark of the database"},
		{bbolt.JournalPath(database), "the journal of the database"},
		{control.SocketPath(database), "the control socket of the database"},
		{SecretPath(database), "the secret of the tokens"},
		{acmePath(database), "the directory of the certificates"},
	}
}

// SecretPath returns the file of the secret that is generated for a database, next to it.
func SecretPath(database string) string { return filepath.Join(filepath.Dir(database), "jwt-secret") }

// acmePath returns the directory of the certificates by ACME: next to the database, or in data if
// the plants are stored elsewhere.
func acmePath(database string) string {
	if database == "" {
		return filepath.Join("data", "acme")
	}
	return filepath.Join(filepath.Dir(database), "acme")
}

// UsedAs returns the use of a file in this configuration, such as "the secret of the tokens",
// empty if it has none.
func UsedAs(c *config.Config, file string) string {
	files := []File{{config.DotenvFile, "the file with options"}, {c.JWTSecretFile, "the secret of the tokens"}, {c.StorageURLFile, "the file of the storage URL"}}
	for _, key := range c.JWTPublicKeys {
		files = append(files, File{key, "a public key of the tokens"})
	}
	files = append(files, File{c.TLSCertFile, "the certificate for TLS"}, File{c.TLSKeyFile, "the private key for TLS"})
	if database := c.Storage.Path; database != "" {
		files = append(files, DatabaseFiles(database)...)
	}
	for _, f := range files {
		if SameFile(file, f.Path) {
			return f.What
		}
	}
	return ""
}

// SameFile reports whether two paths name the same file, which need not exist. An empty
// path names none.
func SameFile(path, other string) bool {
	if path == "" || other == "" {
		return false
	}
	if filepath.Clean(path) == filepath.Clean(other) {
		return true
	}
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}
