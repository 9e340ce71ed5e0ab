package faultfs

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fileNode = 2

// create is the beginning of each log: an empty file with a durable name.
var create = []Op{
	{Kind: Create, Node: rootNode, Name: "f", Child: fileNode, Mode: syscall.S_IFREG | 0o600},
	{Kind: SyncDir, Node: rootNode},
}

func write(content string, offset int64) Op {
	return Op{Kind: Write, Node: fileNode, Data: []byte(content), Offset: offset}
}

func truncate(size int64) Op { return Op{Kind: Truncate, Node: fileNode, Offset: size} }

func synced(failed bool) Op { return Op{Kind: Sync, Node: fileNode, Failed: failed} }

// images returns all possible images after the log, each as text.
func images(log []Op, survivals ...Survival) string {
	replay := NewReplay(log)
	replay.To(len(log))
	found := map[string]bool{}
	for _, survival := range survivals {
		for seed := range uint64(200) {
			found[text(replay.Image(survival, seed))] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), ",")
}

// text formats an image as its names with their contents: repeated bytes once, and - for zeros.
func text(image Image) string {
	var files []string
	for _, file := range image {
		data := bytes.ReplaceAll(slices.Compact(file.Data()), []byte{0}, []byte("-"))
		files = append(files, fmt.Sprintf("%s=%s", file.Path, data))
	}
	return strings.Join(files, " ")
}

// TestContents checks, for short logs, all images that a power failure may leave.
func TestContents(t *testing.T) {
	t.Parallel()
	block := func(c string) string { return strings.Repeat(c, blockSize) }
	for name, tt := range map[string]struct {
		log       []Op
		none, all string
		random    string // any part of the writes, except for torn blocks
	}{
		"not synced": {[]Op{write("a", 0)}, "f=", "f=a", "f=,f=-,f=a"},
		"synced":     {[]Op{write("a", 0), synced(false)}, "f=a", "f=a", "f=a"},
		"over synced data": {
			[]Op{write("a", 0), synced(false), write("b", 0), write("c", 0)}, "f=a", "f=c", "f=a,f=b,f=c",
		},
		"zeros over synced data": {[]Op{write("a", 0), synced(false), write("\x00", 0)}, "f=a", "f=-", "f=-,f=a"},
		"in any order": {
			[]Op{truncate(2 * blockSize), synced(false), write(block("a"), 0), write(block("b"), blockSize)},
			"f=-", "f=ab", "f=-,f=-b,f=a-,f=ab",
		},
		"lengths": {
			[]Op{write("ab", 0), synced(false), truncate(1), truncate(3)}, "f=ab", "f=a-", "f=a,f=a-,f=ab,f=ab-",
		},
		"sync failed": {
			[]Op{write("a", 0), synced(false), write("b", 0), synced(true), synced(false)}, "f=a", "f=b", "f=a,f=b",
		},
		"sync failed, then written again": {
			[]Op{write("ab", 0), synced(false), write("c", 0), synced(true), write("d", 1), synced(false)}, "f=cd", "f=cd", "f=cd",
		},
	} {
		log := slices.Concat(create, tt.log)
		found := strings.Split(images(log, Random), ",")
		intact := slices.DeleteFunc(found, func(s string) bool { return !slices.Contains(strings.Split(tt.random, ","), s) })
		got := []string{images(log, None), images(log, All), strings.Join(intact, ",")}
		if diff := cmp.Diff([]string{tt.none, tt.all, tt.random}, got); diff != "" {
			t.Errorf("%s: none, all, random (-want +got):\n%s", name, diff)
		}
	}
}

// TestTorn finds partially written blocks, made of complete sectors.
func TestTorn(t *testing.T) {
	t.Parallel()
	log := slices.Concat(create, []Op{
		write(string(bytes.Repeat([]byte("a"), blockSize)), 0), synced(false),
		write(string(bytes.Repeat([]byte("b"), blockSize)), 0),
	})
	replay := NewReplay(log)
	replay.To(len(log))
	torn := 0
	for seed := range uint64(200) {
		file, _ := replay.Image(Random, seed).Find("f")
		versions := map[byte]bool{}
		for sector := range slices.Chunk(file.Data(), sectorSize) {
			if len(slices.Compact(sector)) > 1 {
				t.Fatalf("seed %d: a torn sector", seed)
			}
			versions[sector[0]] = true
		}
		if len(versions) > 1 {
			torn++
		}
	}
	if torn < 20 {
		t.Errorf("only %d of 200 blocks were torn", torn)
	}
}

// TestNames checks which names survive a power failure. A directory with an unsynced name is lost with all its
// contents.
func TestNames(t *testing.T) {
	t.Parallel()
	link := Op{Kind: Link, Node: rootNode, Name: "g", Child: fileNode}
	unlink := Op{Kind: Unlink, Node: rootNode, Name: "f"}
	dirSynced := Op{Kind: SyncDir, Node: rootNode}
	failed := Op{Kind: SyncDir, Node: rootNode, Failed: true}
	for name, tt := range map[string]struct {
		log  []Op
		want string
	}{
		"create":                   {create[:1], ",f="},
		"create, synced":           {create, "f="},
		"create, sync failed":      {[]Op{create[0], failed}, ",f="},
		"create, second sync":      {[]Op{create[0], failed, dirSynced}, "f="},
		"link and unlink":          {slices.Concat(create, []Op{link, unlink}), ",f=,f= g=,g="},
		"link, synced, and unlink": {slices.Concat(create, []Op{link, dirSynced, unlink}), "f= g=,g="},
		"a directory": {[]Op{
			{Kind: Create, Node: rootNode, Name: "d", Child: 3, Mode: syscall.S_IFDIR | 0o700},
			{Kind: Create, Node: 3, Name: "f", Child: fileNode, Mode: syscall.S_IFREG | 0o600},
			write("a", 0), synced(false),
			{Kind: SyncDir, Node: 3},
		}, ",d= d/f=a"},
	} {
		if got := images(tt.log, None, All, Random); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
