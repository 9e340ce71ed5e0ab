package faultfs

import (
	"bytes"
	"maps"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// validity is how many seconds the kernel may cache entries and attributes, which only
// change through it.
const validity = 1 << 20

// raw handles the kernel's requests. Other operations are not supported.
type raw struct {
	fuse.RawFileSystem

	fs *FS
}

// String is the name of the file system in messages.
func (*raw) String() string { return "faultfs" }

// StatFs reports plenty of free space.
func (*raw) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	const blocks = 1 << 20
	*out = fuse.StatfsOut{
		Blocks: blocks, Bfree: blocks, Bavail: blocks, Files: blocks, Ffree: blocks,
		Bsize: blockSize, Frsize: blockSize, NameLen: 255,
	}
	return fuse.OK
}

// Lookup looks up a name in a directory.
func (r *raw) Lookup(_ <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	defer r.lock()()
	child, ok := r.node(header.NodeId).names[name]
	if !ok {
		return fuse.ENOENT
	}
	r.describe(child, out)
	return fuse.OK
}

// GetAttr implements stat.
func (r *raw) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	defer r.lock()()
	out.AttrValid = validity
	r.attributes(in.NodeId, &out.Attr)
	return fuse.OK
}

// SetAttr implements truncate and chmod. Owners and times are not stored.
func (r *raw) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	defer r.lock()()
	if size, ok := in.GetSize(); ok {
		if status := r.fs.do(Op{Kind: Truncate, Node: in.NodeId, Offset: int64(size)}); status != fuse.OK {
			return status
		}
	}
	if mode, ok := in.GetMode(); ok {
		if status := r.fs.do(Op{Kind: Chmod, Node: in.NodeId, Mode: mode}); status != fuse.OK {
			return status
		}
	}
	out.AttrValid = validity
	r.attributes(in.NodeId, &out.Attr)
	return fuse.OK
}

// Create makes a file and opens it.
func (r *raw) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	defer r.lock()()
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return r.create(in.NodeId, name, syscall.S_IFREG|in.Mode, &out.EntryOut)
}

// Mkdir makes a directory.
func (r *raw) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	defer r.lock()()
	return r.create(in.NodeId, name, syscall.S_IFDIR|in.Mode, out)
}

// Mknod creates a socket. It is not part of an image: after a power failure it has no listener.
func (r *raw) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	defer r.lock()()
	if in.Mode&syscall.S_IFMT != syscall.S_IFSOCK {
		return fuse.ENOSYS
	}
	return r.create(in.NodeId, name, in.Mode, out)
}

func (r *raw) create(dir uint64, name string, mode uint32, out *fuse.EntryOut) fuse.Status {
	r.fs.lastNode++
	child := r.fs.lastNode
	op := Op{Kind: Create, Node: dir, Name: name, Child: child, Mode: mode &^ 0o7000}
	if status := r.fs.do(op); status != fuse.OK {
		return status
	}
	r.describe(child, out)
	return fuse.OK
}

// Link gives a file another name.
func (r *raw) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	defer r.lock()()
	op := Op{Kind: Link, Node: in.NodeId, Name: name, Child: in.Oldnodeid}
	if status := r.fs.do(op); status != fuse.OK {
		return status
	}
	r.describe(in.Oldnodeid, out)
	return fuse.OK
}

// Unlink removes the name of a file.
func (r *raw) Unlink(_ <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	defer r.lock()()
	return r.fs.do(Op{Kind: Unlink, Node: header.NodeId, Name: name})
}

// Open lets the kernel keep the cached pages of the file.
func (*raw) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

// Read reads from a file.
func (r *raw) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	defer r.lock()()
	n := r.node(in.NodeId).read(buf, int64(in.Offset))
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

// Writev writes to a file.
func (r *raw) Writev(_ <-chan struct{}, in *fuse.WriteIn, data [][]byte) (uint32, fuse.Status) {
	defer r.lock()()
	op := Op{Kind: Write, Node: in.NodeId, Offset: int64(in.Offset), Data: bytes.Join(data, nil)}
	if status := r.fs.do(op); status != fuse.OK {
		return 0, status
	}
	return in.Size, fuse.OK
}

// Fsync implements fsync and fdatasync of a file.
func (r *raw) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	defer r.lock()()
	return r.fs.do(Op{Kind: Sync, Node: in.NodeId})
}

// FsyncDir implements fsync of a directory.
func (r *raw) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	defer r.lock()()
	return r.fs.do(Op{Kind: SyncDir, Node: in.NodeId})
}

// ReadDir lists a directory.
func (r *raw) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	defer r.lock()()
	names := r.node(in.NodeId).names
	sorted := slices.Sorted(maps.Keys(names))
	for _, name := range sorted[min(in.Offset, uint64(len(sorted))):] {
		child := names[name]
		if !out.AddDirEntry(fuse.DirEntry{Name: name, Ino: child, Mode: r.node(child).mode}) {
			break
		}
	}
	return fuse.OK
}

// lock locks the file system and returns a function that unlocks it.
func (r *raw) lock() (unlock func()) {
	r.fs.mu.Lock()
	return r.fs.mu.Unlock
}

func (r *raw) node(id uint64) *node { return r.fs.disk.nodes[id] }

func (r *raw) describe(id uint64, out *fuse.EntryOut) {
	out.NodeId, out.EntryValid, out.AttrValid = id, validity, validity
	r.attributes(id, &out.Attr)
}

func (r *raw) attributes(id uint64, out *fuse.Attr) {
	n := r.node(id)
	out.Ino, out.Mode, out.Nlink = id, n.mode, n.links
	if r.fs.modeless {
		out.Mode |= 0o777
	}
	out.Size = uint64(n.size())
	out.Blocks, out.Blksize = uint64(len(n.blocks))*blockSize/512, blockSize
}
