//go:build !linux

package bbolt

import (
	"io/fs"
	"os"
)

// A fileStat identifies a file, and has its size.
type fileStat struct {
	info fs.FileInfo
	size int64 // in bytes
}

func statPath(path string) (fileStat, error) { return fromInfo(os.Stat(path)) }

func statOpen(file *os.File) (fileStat, error) { return fromInfo(file.Stat()) }

func fromInfo(info fs.FileInfo, err error) (fileStat, error) {
	if err != nil {
		return fileStat{}, err
	}
	return fileStat{info: info, size: info.Size()}, nil
}

func (s fileStat) sameFile(other fileStat) bool { return os.SameFile(s.info, other.info) }
