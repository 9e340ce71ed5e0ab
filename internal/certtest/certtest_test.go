package certtest_test

import (
	"os"
	"testing"
	"time"

	"plantstore/internal/certtest"
)

// TestIssueReplacesFiles checks that a new certificate is a new file: a check for changes
// detects it, however coarse the times of the file system are.
func TestIssueReplacesFiles(t *testing.T) {
	t.Parallel()
	authority, dir := certtest.New(t), t.TempDir()
	var before [2]os.FileInfo
	for range 2 {
		cert, key := authority.Issue(dir, time.Now().Add(time.Hour))
		for i, path := range []string{cert, key} {
			now, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if before[i] != nil && os.SameFile(before[i], now) {
				t.Errorf("%s is the same file", path)
			}
			before[i] = now
		}
	}
}
