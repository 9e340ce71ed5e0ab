package faultfs

import "syscall"

// A Kind is the kind of an [Op].
type Kind string

// The kinds of operations: all operations that change a file system of this package.
const (
	// Create creates the file or directory Child, with the mode Mode, and gives it the name Name
	// in the directory Node.
	Create Kind = "create"
	// Link gives Child the name Name in the directory Node.
	Link Kind = "link"
	// Unlink removes the name Name from the directory Node.
	Unlink Kind = "unlink"
	// Write puts Data at Offset of the file Node.
	Write Kind = "write"
	// Truncate gives the file Node the length Offset.
	Truncate Kind = "truncate"
	// Chmod gives Node the permissions Mode.
	Chmod Kind = "chmod"
	// Sync makes the contents and the length of the file Node durable.
	Sync Kind = "sync"
	// SyncDir makes the names in the directory Node durable.
	SyncDir Kind = "syncdir"
)

// An Op is one change to the file system, or a sync.
type Op struct {
	Kind   Kind
	Node   uint64
	Child  uint64
	Mode   uint32
	Name   string
	Offset int64
	Data   []byte
	// File is the last name that the file or directory Node had. Only a Fault sees it.
	File string
	// TakesSpace marks an operation that needs more space on the disk: a new name, a greater
	// length, a write to a hole. Other writes are in place, as in most file systems.
	TakesSpace bool
	// Failed marks a sync that returned an error. After it the file's changes count as written
	// to the disk, as in Linux, but they need not be there: no later sync writes them unless
	// they are made again. A directory's changes stay unsynced.
	Failed bool
}

// IsSync reports whether the operation is a sync, of a file or of a directory.
func (o Op) IsSync() bool { return o.Kind == Sync || o.Kind == SyncDir }

// A Fault decides about each operation before it is done: if it returns an errno other than 0,
// the caller gets the errno and the operation is not done. A failed sync has an effect
// nevertheless, see [Op.Failed]. It is called for one operation at a time, and must not use the
// file system.
type Fault func(op Op) syscall.Errno
