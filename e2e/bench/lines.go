package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// engineLines returns how many lines the embedded engine has, with its journal
// wherever that is, but without tests.
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

// ofEngine reports whether a file is one of the engine's own, or its journal's.
func ofEngine(name string) bool {
	if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
		return false
	}
	return strings.HasPrefix(name, "storage/bbolt/") || path.Base(path.Dir(name)) == "journal"
}
