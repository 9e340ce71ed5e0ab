package architecture

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A shippedFile is a file or a directory in a list of .goreleaser.yaml.
type shippedFile struct{ Src, Dst, Type, Packager string }

// TestLinksOfShippedDocuments checks that a link within the documents of an archive or a package
// leads to a file or directory in it. Only links to the sources work in a clone only.
func TestLinksOfShippedDocuments(t *testing.T) {
	t.Parallel()
	var release struct {
		Archives []struct{ Files []shippedFile }
		Nfpms    []struct{ Contents []shippedFile }
	}
	if err := yaml.Unmarshal([]byte(readFile(t, ".goreleaser.yaml")), &release); err != nil || len(release.Archives) != 2 || len(release.Nfpms) != 1 {
		t.Fatalf("%v, %d archives, %d nfpms", err, len(release.Archives), len(release.Nfpms))
	}
	lists := map[string][]shippedFile{"archive": release.Archives[0].Files, "archive of plantstore-cluster": release.Archives[1].Files}
	for _, packager := range []string{"deb", "rpm"} {
		for _, file := range release.Nfpms[0].Contents {
			if file.Packager == "" || file.Packager == packager {
				lists[packager] = append(lists[packager], file)
			}
		}
	}
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkShippedLinks(t, shipped(t, list))
		})
	}
}

// shipped returns the sources of a list's files by destination; "" for files that the
// build makes.
func shipped(t *testing.T, list []shippedFile) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for _, entry := range list {
		if entry.Type == "symlink" || strings.HasPrefix(entry.Src, "bin/") {
			files[entry.Dst] = ""
			continue
		}
		err := fs.WalkDir(os.DirFS(root), entry.Src, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				place := name
				if entry.Dst != "" {
					place = path.Join(entry.Dst, strings.TrimPrefix(name, entry.Src))
				}
				files[place] = name
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	return files
}

// checkShippedLinks reports links from one of files to a file that is not shipped.
func checkShippedLinks(t *testing.T, files map[string]string) {
	t.Helper()
	has := make(map[string]bool) // files and directories
	for place := range files {
		for ; !has[place]; place = path.Dir(place) {
			has[place] = true
		}
	}
	checked := 0
	for place, source := range files {
		if path.Ext(source) != ".md" {
			continue
		}
		for _, link := range linksOf(t, filepath.Join(root, source)) {
			file, _, _ := strings.Cut(link, "#")
			to := path.Join(path.Dir(source), file)
			if file == "" || path.Ext(to) == ".go" || strings.HasPrefix(to, ".ci/") {
				continue
			}
			checked++
			if !has[path.Join(path.Dir(place), file)] {
				t.Errorf("%s: the target of the link %s is not shipped", place, link)
			}
		}
	}
	if checked == 0 {
		t.Error("no links found")
	}
}
