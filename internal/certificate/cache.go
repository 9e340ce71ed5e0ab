package certificate

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/crypto/acme/autocert"

	"plantstore/internal/atomicfile"
)

// The modes of private keys and their directory: accessible only to the owner.
const (
	cachePerm    fs.FileMode = 0o600
	cacheDirPerm fs.FileMode = 0o700
)

// A dirCache is an [autocert.Cache] in a directory, compatible with [autocert.DirCache].
// The directory must pass the checks of [atomicfile.OpenDir]. Files survive a power
// failure complete.
type dirCache string

// PrepareCache creates the directory of [NewACME] for keys and certificates. It fails if
// the directory is unusable or unsafe.
func PrepareCache(dir string) error { return atomicfile.MkdirAll(dir, cacheDirPerm) }

var _ autocert.Cache = dirCache("")

// fileName returns the file name of a key, which is always within the directory.
func fileName(key string) string { return filepath.Base(filepath.Clean("/" + key)) }

// Get implements [autocert.Cache].
func (c dirCache) Get(_ context.Context, key string) ([]byte, error) {
	dir, err := atomicfile.OpenDir(string(c))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, autocert.ErrCacheMiss
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // opened for reading
	data, err := dir.ReadFile(fileName(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, autocert.ErrCacheMiss
	}
	return data, err
}

// Put implements [autocert.Cache].
func (c dirCache) Put(ctx context.Context, key string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := PrepareCache(string(c)); err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(string(c), fileName(key)), cachePerm, func(file *atomicfile.File) error {
		_, err := file.Write(data)
		return err
	})
}

// Delete implements [autocert.Cache].
func (c dirCache) Delete(_ context.Context, key string) error {
	dir, err := atomicfile.OpenDir(string(c))
	if err == nil {
		err = errors.Join(dir.Remove(fileName(key)), dir.Close())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
