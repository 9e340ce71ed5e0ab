//go:build !linux

package bbolt

import (
	"io/fs"
	"os"
)

// A sighting is what tells one file from another, and how long it is.
type sighting struct {
	info fs.FileInfo
	size int64 // in bytes
}

// sight looks at the file at path.
func sight(path string) (sighting, error) { return sightingOf(os.Stat(path)) }

// sightOf looks at an open file.
func sightOf(file *os.File) (sighting, error) { return sightingOf(file.Stat()) }

func sightingOf(info fs.FileInfo, err error) (sighting, error) {
	if err != nil {
		return sighting{}, err
	}
	return sighting{info: info, size: info.Size()}, nil
}

// sameFile reports whether both are of one file.
func (s sighting) sameFile(other sighting) bool { return os.SameFile(s.info, other.info) }
