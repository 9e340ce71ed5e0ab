package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// engineLines returns the number of lines of the embedded engine and its journal, without tests.
func engineLines(root string) (lines int, err error) {
	module := os.DirFS(root)
	for _, top := range []string{"storage", "internal"} {
		walkErr := fs.WalkDir(module, top, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !ofEngine(name) {
				return err
			}
			text, err := fs.ReadFile(module, name)
			lines += bytes.Count(text, []byte("\n"))
			return err
		})
		err = errors.Join(err, walkErr)
	}
	return lines, err
}

// ofEngine reports whether a file belongs to the engine or its journal.
func ofEngine(name string) bool {
	if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
		return false
	}
	return strings.HasPrefix(name, "storage/bbolt/") || path.Base(path.Dir(name)) == "journal"
}
