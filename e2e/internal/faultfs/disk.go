package faultfs

import (
	"maps"
	"syscall"
)

const (
	// blockSize is the unit in bytes that the kernel writes to a disk, in any order.
	blockSize = 4096
	// sectorSize is the size in bytes that a disk writes atomically.
	sectorSize = 512
)

// rootNode is the number of the file system's root in FUSE.
const rootNode = 1

// A disk is a file system: its current contents, and the possible contents after a power
// failure. Nodes are never deleted.
type disk struct {
	nodes map[uint64]*node
}

// A node is a file or a directory.
type node struct {
	mode  uint32 // including the bits of its type
	links uint32
	name  string // its most recent name

	// Of a file.
	blocks map[int64]*block // blocks that were ever written; others are zeros
	sizes  []int64          // lengths that a power failure may leave; the last is the current one

	// Of a directory.
	names   map[string]uint64 // current
	durable map[string]uint64 // as of the last sync
	pending []Op              // since the last sync
}

// A block is blockSize bytes of a file.
type block struct {
	// versions are the contents that a power failure may leave, nil for zeros. The first is the
	// content at the last successful sync, the last is the current one. Contents are immutable.
	versions [][]byte
	dirty    bool // dirty: the next sync writes it
}

func newDisk() *disk {
	root := newNode(syscall.S_IFDIR | 0o755)
	root.links = 1
	return &disk{nodes: map[uint64]*node{rootNode: root}}
}

func newNode(mode uint32) *node {
	return &node{
		mode: mode, sizes: []int64{0}, blocks: map[int64]*block{},
		names: map[string]uint64{}, durable: map[string]uint64{},
	}
}

func (n *node) isDir() bool { return n.mode&syscall.S_IFMT == syscall.S_IFDIR }

func (n *node) isSocket() bool { return n.mode&syscall.S_IFMT == syscall.S_IFSOCK }

// size returns the current length of a file.
func (n *node) size() int64 { return n.sizes[len(n.sizes)-1] }

// apply does an operation, which must be valid.
func (d *disk) apply(op Op) {
	n := d.nodes[op.Node]
	switch op.Kind {
	case Write:
		n.write(op.Data, op.Offset)
	case Truncate:
		n.truncate(op.Offset)
	case Chmod:
		n.mode = n.mode&syscall.S_IFMT | op.Mode
	case Sync:
		n.sync(op.Failed)
	case SyncDir:
		n.syncDir(op.Failed)
	default:
		d.changeNames(n, op)
	}
}

// takesSpace reports whether an operation needs more space.
func (d *disk) takesSpace(op Op) bool {
	n := d.nodes[op.Node]
	switch op.Kind {
	case Create, Link:
		return true
	case Truncate:
		return op.Offset > n.size()
	case Write:
		end := op.Offset + int64(len(op.Data))
		for index := op.Offset / blockSize; index*blockSize < end; index++ {
			if n.blocks[index] == nil {
				return true
			}
		}
	}
	return false
}

// changeNames does an operation that changes the names in the directory n.
func (d *disk) changeNames(n *node, op Op) {
	if op.Kind == Create {
		d.nodes[op.Child] = newNode(op.Mode)
	}
	if child, ok := n.names[op.Name]; ok {
		d.nodes[child].links--
	}
	op.rename(n.names)
	if child, ok := n.names[op.Name]; ok {
		d.nodes[child].links++
		d.nodes[child].name = op.Name
	}
	n.pending = append(n.pending, op)
}

// rename applies the operation to the names of a directory, to which any part of the
// earlier operations may have been applied.
func (o Op) rename(names map[string]uint64) {
	switch o.Kind {
	case Create, Link:
		names[o.Name] = o.Child
	case Unlink:
		delete(names, o.Name)
	}
}

// syncDir makes the names of a directory durable. If the sync fails, they stay pending: the
// journal or the next sync may write them.
func (n *node) syncDir(failed bool) {
	if !failed {
		n.durable, n.pending = maps.Clone(n.names), nil
	}
}

func (n *node) write(data []byte, offset int64) {
	end := offset + int64(len(data))
	for len(data) > 0 {
		from := offset % blockSize
		count := min(int64(len(data)), blockSize-from)
		n.change(offset/blockSize, func(content []byte) { copy(content[from:], data[:count]) })
		data, offset = data[count:], offset+count
	}
	if end > n.size() {
		n.sizes = append(n.sizes, end)
	}
}

// truncate changes the length of a file. Truncated bytes read as zeros if the file grows
// again.
func (n *node) truncate(size int64) {
	for index := range n.blocks {
		if keep := size - index*blockSize; keep < blockSize {
			n.change(index, func(content []byte) { clear(content[max(keep, 0):]) })
		}
	}
	if size != n.size() {
		n.sizes = append(n.sizes, size)
	}
}

// change gives a block a new version.
func (n *node) change(index int64, edit func(content []byte)) {
	b := n.blocks[index]
	if b == nil {
		b = &block{versions: [][]byte{nil}}
		n.blocks[index] = b
	}
	content := make([]byte, blockSize)
	copy(content, b.current())
	edit(content)
	if [blockSize]byte(content) == [blockSize]byte{} {
		content = nil
	}
	b.versions, b.dirty = append(b.versions, content), true
}

func (b *block) current() []byte { return b.versions[len(b.versions)-1] }

// sync makes a file durable. If that fails its dirty blocks are dropped: they are clean from now
// on, whether they are on the disk or not. Its length stays in the journal of the file system,
// so the next successful sync makes it durable.
func (n *node) sync(failed bool) {
	for _, b := range n.blocks {
		if b.dirty && !failed {
			b.versions = [][]byte{b.current()}
		}
		b.dirty = false
	}
	if !failed {
		n.sizes = []int64{n.size()}
	}
}

// read fills buf from offset on and returns the number of bytes.
func (n *node) read(buf []byte, offset int64) int {
	buf = buf[:max(0, min(int64(len(buf)), n.size()-offset))]
	for done := int64(0); done < int64(len(buf)); {
		from := (offset + done) % blockSize
		part := buf[done:min(int64(len(buf)), done+blockSize-from)]
		clear(part)
		if b := n.blocks[(offset+done)/blockSize]; b != nil && b.current() != nil {
			copy(part, b.current()[from:])
		}
		done += int64(len(part))
	}
	return len(buf)
}
