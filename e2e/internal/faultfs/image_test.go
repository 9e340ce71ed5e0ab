package faultfs

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
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
func images(log []Op, survivals ...Survival) []string {
	replay := NewReplay(log)
	replay.To(len(log))
	found := map[string]bool{}
	for _, survival := range survivals {
		for seed := range uint64(200) {
			found[text(replay.Image(survival, seed))] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// text formats an image as its names with their contents; repeated bytes once.
func text(image Image) string {
	var s string
	for _, file := range image {
		s += fmt.Sprintf("%s=%s ", file.Path, slices.Compact(file.Data()))
	}
	return s
}

// TestContents checks, for short logs, all images that a power failure may leave.
func TestContents(t *testing.T) {
	t.Parallel()
	block := func(c string) string { return string(bytes.Repeat([]byte(c), blockSize)) }
	for _, tt := range []struct {
		name string
		log  []Op
		none []string
		all  []string
		// random are the images of any part of the writes, except for torn blocks.
		random []string
	}{
		{
			"not synced",
			[]Op{write("a", 0)},
			[]string{"f= "},
			[]string{"f=a "},
			[]string{"f= ", "f=\x00 ", "f=a "},
		},
		{"synced", []Op{write("a", 0), synced(false)}, []string{"f=a "}, []string{"f=a "}, []string{"f=a "}},
		{
			"over synced data",
			[]Op{write("a", 0), synced(false), write("b", 0), write("c", 0)},
			[]string{"f=a "},
			[]string{"f=c "},
			[]string{"f=a ", "f=b ", "f=c "},
		},
		{
			"in any order",
			[]Op{truncate(2 * blockSize), synced(false), write(block("a"), 0), write(block("b"), blockSize)},
			[]string{"f=\x00 "},
			[]string{"f=ab "},
			[]string{"f=\x00 ", "f=\x00b ", "f=a\x00 ", "f=ab "},
		},
		{
			"lengths",
			[]Op{write("ab", 0), synced(false), truncate(1), truncate(3)},
			[]string{"f=ab "},
			[]string{"f=a\x00 "},
			[]string{"f=a ", "f=a\x00 ", "f=ab ", "f=ab\x00 "},
		},
		{
			"sync failed",
			[]Op{write("a", 0), synced(false), write("b", 0), synced(true), synced(false)},
			[]string{"f=a "},
			[]string{"f=b "},
			[]string{"f=a ", "f=b "},
		},
		{
			"sync failed, then written again",
			[]Op{write("ab", 0), synced(false), write("c", 0), synced(true), write("d", 1), synced(false)},
			[]string{"f=cd "},
			[]string{"f=cd "},
			[]string{"f=cd "},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			log := slices.Concat(create, tt.log)
			if diff := cmp.Diff(tt.none, images(log, None)); diff != "" {
				t.Errorf("none (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.all, images(log, All)); diff != "" {
				t.Errorf("all (-want +got):\n%s", diff)
			}
			intact := slices.DeleteFunc(images(log, Random), func(s string) bool { return !slices.Contains(tt.random, s) })
			if diff := cmp.Diff(slices.Sorted(slices.Values(tt.random)), intact); diff != "" {
				t.Errorf("random (-want +got):\n%s", diff)
			}
		})
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
		sectors := map[byte]bool{}
		for start := 0; start < blockSize; start += sectorSize {
			sector := file.Data()[start : start+sectorSize]
			if len(slices.Compact(slices.Clone(sector))) > 1 {
				t.Fatalf("seed %d: a torn sector", seed)
			}
			sectors[sector[0]] = true
		}
		if len(sectors) > 1 {
			torn++
		}
	}
	if torn < 20 {
		t.Errorf("only %d of 200 blocks were torn", torn)
	}
}

// TestNames checks which names in a directory survive a power failure.
func TestNames(t *testing.T) {
	t.Parallel()
	rename := Op{Kind: Rename, Node: rootNode, Name: "f", NewName: "g", Child: fileNode}
	link := Op{Kind: Link, Node: rootNode, Name: "g", Child: fileNode}
	unlink := Op{Kind: Unlink, Node: rootNode, Name: "f"}
	dirSynced := Op{Kind: SyncDir, Node: rootNode}
	failed := Op{Kind: SyncDir, Node: rootNode, Failed: true}
	for _, tt := range []struct {
		name string
		log  []Op
		want []string
	}{
		{"create", create[:1], []string{"", "f= "}},
		{"create, synced", create, []string{"f= "}},
		{"create, sync failed", []Op{create[0], failed}, []string{"", "f= "}},
		{"create, second sync", []Op{create[0], failed, dirSynced}, []string{"f= "}},
		{"rename", slices.Concat(create, []Op{rename}), []string{"f= ", "g= "}},
		{"rename of an unsynced name", []Op{create[0], rename}, []string{"", "f= ", "g= "}},
		{"link and unlink", slices.Concat(create, []Op{link, unlink}), []string{"", "f= ", "f= g= ", "g= "}},
		{"link, synced, and unlink", slices.Concat(create, []Op{link, dirSynced, unlink}), []string{"f= g= ", "g= "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, images(tt.log, None, All, Random)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDirectories checks that a directory with an unsynced name is lost with all its contents.
func TestDirectories(t *testing.T) {
	t.Parallel()
	log := []Op{
		{Kind: Create, Node: rootNode, Name: "d", Child: 3, Mode: syscall.S_IFDIR | 0o700},
		{Kind: Create, Node: 3, Name: "f", Child: fileNode, Mode: syscall.S_IFREG | 0o600},
		write("a", 0), synced(false),
		{Kind: SyncDir, Node: 3},
	}
	if diff := cmp.Diff([]string{"", "d= d/f=a "}, images(log, None, All, Random)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTakesSpace(t *testing.T) {
	t.Parallel()
	d := newDisk()
	for _, tt := range []struct {
		op   Op
		want bool
	}{
		{create[0], true},
		{create[1], false},
		{truncate(3 * blockSize), true},
		{truncate(2 * blockSize), false},
		{write("a", blockSize), true},
		{write("b", blockSize+7), false},
		{write("across", blockSize-1), true},
		{synced(false), false},
		{Op{Kind: Link, Node: rootNode, Name: "g", Child: fileNode}, true},
		{Op{Kind: Unlink, Node: rootNode, Name: "g"}, false},
	} {
		if got := d.takesSpace(tt.op); got != tt.want {
			t.Errorf("%s at %d: %t, want %t", tt.op.Kind, tt.op.Offset, got, tt.want)
		}
		d.apply(tt.op)
	}
}
