package certificate

import (
	"context"
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

// PrepareCache creates the directory of [NewACME] for keys and certificates. It fails if
// the directory is unusable or unsafe.
func PrepareCache(dir string) error { return atomicfile.MkdirAll(dir, cacheDirPerm) }

// A dirCache is an [autocert.DirCache] whose files survive a power failure complete:
// autocert fails if its account key is incomplete.
type dirCache struct{ autocert.DirCache }

// Put implements [autocert.Cache].
func (c dirCache) Put(_ context.Context, key string, data []byte) error {
	path := filepath.Join(string(c.DirCache), filepath.Clean("/"+key)) // the same path as in autocert's DirCache
	return atomicfile.Replace(path, cachePerm, func(file *atomicfile.File) error {
		_, err := file.Write(data)
		return err
	})
}
