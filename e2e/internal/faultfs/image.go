package faultfs

import (
	"cmp"
	"hash/maphash"
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
	// the names of a directory or not, in any order.
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
	p := powerCut{disk: r.disk, random: random, files: map[uint64]File{}}
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
	Size int64
	// Blocks are the contents by number; the other blocks are zeros. Images share them.
	Blocks map[int64][]byte
}

// part returns the block with that number, up to the end of the file.
func (f File) part(number int64) []byte {
	return f.Blocks[number][:min(blockSize, f.Size-number*blockSize)]
}

// Data returns the contents of a file.
func (f File) Data() []byte {
	data := make([]byte, f.Size)
	for number := range f.Blocks {
		copy(data[number*blockSize:], f.part(number))
	}
	return data
}

// write creates the file in the directory dir.
func (f File) write(dir string) error {
	path := filepath.Join(dir, f.Path)
	if f.Mode.IsDir() {
		return os.Mkdir(path, f.Mode.Perm())
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, f.Mode.Perm())
	if err != nil {
		return err
	}
	err = file.Truncate(f.Size)
	for number := range f.Blocks {
		_, writeErr := file.WriteAt(f.part(number), number*blockSize)
		err = cmp.Or(err, writeErr)
	}
	return cmp.Or(err, file.Close())
}

// Write makes the image in the existing directory dir.
func (i Image) Write(dir string) error {
	for _, file := range i {
		if err := file.write(dir); err != nil {
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

// Sum returns a hash of an image.
func (i Image) Sum(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, file := range i {
		maphash.WriteComparable(&h, file.Path)
		maphash.WriteComparable(&h, file.Size)
		for _, number := range slices.Sorted(maps.Keys(file.Blocks)) {
			maphash.WriteComparable(&h, number)
			_, _ = h.Write(file.part(number))
		}
	}
	return h.Sum64()
}

// A powerCut selects and collects the surviving data.
type powerCut struct {
	disk   *disk
	random *rand.Rand
	// The odds that something is left, and that a block is torn.
	dirty, dropped, names, torn float64

	files map[uint64]File // whose survival has been decided
	image Image
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
		child, path := names[name], filepath.Join(dir, name)
		switch n := p.disk.nodes[child]; {
		case n.isSocket():
		case n.isDir():
			p.image = append(p.image, File{Path: path, Mode: fs.ModeDir | fs.FileMode(n.mode&0o777)})
			p.addDir(child, path)
		default:
			file := p.file(child)
			file.Path = path
			p.image = append(p.image, file)
		}
	}
}

// file returns what survives of the file id, which may have several names.
func (p *powerCut) file(id uint64) File {
	if file, ok := p.files[id]; ok {
		return file
	}
	n := p.disk.nodes[id]
	file := File{Mode: fs.FileMode(n.mode & 0o777), Size: choose(p, n.sizes, p.dirty), Blocks: map[int64][]byte{}}
	for _, number := range slices.Sorted(maps.Keys(n.blocks)) {
		if number*blockSize >= file.Size {
			break
		}
		if content := p.survivor(n.blocks[number]); content != nil {
			file.Blocks[number] = content
		}
	}
	p.files[id] = file
	return file
}

// survivor returns what survives of a block, nil for zeros.
func (p *powerCut) survivor(b *block) []byte {
	if len(b.versions) == 1 {
		return b.versions[0]
	}
	odds := p.dropped
	if b.dirty {
		odds = p.dirty
	}
	if !p.happens(p.torn) {
		return choose(p, b.versions, odds)
	}
	torn := make([]byte, blockSize)
	for start := 0; start < blockSize; start += sectorSize {
		if content := choose(p, b.versions, odds); content != nil {
			copy(torn[start:start+sectorSize], content[start:])
		}
	}
	return torn
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
