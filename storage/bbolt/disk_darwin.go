package bbolt

import "golang.org/x/sys/unix"

// networkName returns the name of a network file system, "" for another one.
func networkName(stat unix.Statfs_t) string {
	if stat.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(stat.Fstypename[:])
}
