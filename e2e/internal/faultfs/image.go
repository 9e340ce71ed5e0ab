package faultfs

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// A Survival is how much unsynced data survives a power failure.
type Survival string

const (
	// None keeps only synced operations.
	None Survival = "none"
	// All keeps everything, as after a kill.
	All Survival = "all"
	// Random keeps any part: each 4 KiB block as it was at any time since the last sync, or
	// torn, with 512-byte sectors of several times; any length that the file had; each change to
	// the names of a directory or not, in any order. A rename is one change.
	Random Survival = "random"
)

// A Replay replays a log, for the possible contents after a power failure.
type Replay struct {
	log  []Op
	done int
	disk *disk
}

// NewReplay returns a Replay before the first operation of the log.
func NewReplay(log []Op) *Replay { return &Replay{log: log, disk: newDisk()} }

// To continues until the first n operations are done.
func (r *Replay) To(n int) {
	for ; r.done < n; r.done++ {
		r.disk.apply(r.log[r.done])
	}
}

// Image returns possible contents after a power failure at this point. The same seed gives the
// same image.
func (r *Replay) Image(survival Survival, seed uint64) Image {
	random := rand.New(rand.NewPCG(seed, uint64(r.done)))
	p := powerCut{disk: r.disk, random: random, contents: map[uint64][]byte{}}
	switch survival {
	case None:
	case All:
		p.dirty, p.dropped, p.names = 1, 1, 1
	default:
		p.dirty, p.names = random.Float64(), random.Float64()
		p.dropped = []float64{0, 1, random.Float64()}[random.IntN(3)]
		p.torn = []float64{0, random.Float64()}[random.IntN(2)]
	}
	p.addDir(rootNode, "")
	return p.image
}

// An Image is the state after a power failure: each directory before its contents.
type Image []File

// A File is a file or a directory of an [Image].
type File struct {
	Path string // relative to the root
	Mode fs.FileMode
	Data []byte
}

// Write makes the image in the existing directory dir.
func (i Image) Write(dir string) error {
	for _, file := range i {
		path := filepath.Join(dir, file.Path)
		var err error
		if file.Mode.IsDir() {
			err = os.Mkdir(path, file.Mode.Perm())
		} else {
			err = os.WriteFile(path, file.Data, file.Mode.Perm())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Find returns the file of that path.
func (i Image) Find(path string) (file File, found bool) {
	n := slices.IndexFunc(i, func(f File) bool { return f.Path == path })
	if n < 0 {
		return File{}, false
	}
	return i[n], true
}

// Sum returns a checksum of an image.
func (i Image) Sum() [sha256.Size]byte {
	h := sha256.New()
	for _, file := range i {
		_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(file.Path), uint64(len(file.Data))))
		_, _ = h.Write(file.Data)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// A powerCut selects and collects the surviving data.
type powerCut struct {
	disk   *disk
	random *rand.Rand
	// The odds that something is left, and that a block is torn.
	dirty, dropped, names, torn float64

	contents map[uint64][]byte // the files whose survival has been decided
	image    Image
}

// happens returns true with that probability.
func (p *powerCut) happens(probability float64) bool {
	return probability > 0 && (probability >= 1 || p.random.Float64() < probability)
}

// addDir adds the contents of the directory id with the path dir.
func (p *powerCut) addDir(id uint64, dir string) {
	n := p.disk.nodes[id]
	names := maps.Clone(n.durable)
	for _, op := range n.pending {
		if p.happens(p.names) {
			op.rename(names)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		child := names[name]
		file := File{Path: filepath.Join(dir, name), Mode: fs.FileMode(p.disk.nodes[child].mode & 0o777)}
		if p.disk.nodes[child].isSocket() {
			continue
		}
		if p.disk.nodes[child].isDir() {
			file.Mode |= fs.ModeDir
			p.image = append(p.image, file)
			p.addDir(child, file.Path)
			continue
		}
		file.Data = p.content(child)
		p.image = append(p.image, file)
	}
}

// content returns the surviving contents of the file id, which may have several names.
func (p *powerCut) content(id uint64) []byte {
	if content, ok := p.contents[id]; ok {
		return content
	}
	n := p.disk.nodes[id]
	content := make([]byte, choose(p, n.sizes, p.dirty))
	for _, index := range slices.SortedFunc(maps.Keys(n.blocks), cmp.Compare) {
		if start := index * blockSize; start < int64(len(content)) {
			p.fill(content[start:min(start+blockSize, int64(len(content)))], n.blocks[index])
		}
	}
	p.contents[id] = content
	return content
}

// fill writes the surviving part of a block into content.
func (p *powerCut) fill(content []byte, b *block) {
	if len(b.versions) == 1 {
		copy(content, b.versions[0])
		return
	}
	odds := p.dropped
	if b.dirty {
		odds = p.dirty
	}
	copy(content, choose(p, b.versions, odds))
	if !p.happens(p.torn) {
		return
	}
	for start := 0; start < len(content); start += sectorSize {
		sector := content[start:min(start+sectorSize, len(content))]
		copy(sector, choose(p, b.versions, odds)[start:])
	}
}

// choose returns the surviving version: the last with All, the first with None, else with
// these odds any later one.
func choose[T any](p *powerCut, versions []T, odds float64) T {
	switch last := len(versions) - 1; {
	case last == 0 || !p.happens(odds):
		return versions[0]
	case odds >= 1:
		return versions[last]
	default:
		return versions[1+p.random.IntN(last)]
	}
}
