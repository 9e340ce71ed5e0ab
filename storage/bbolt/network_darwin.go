package bbolt

import "golang.org/x/sys/unix"

// refuseNetwork returns a refusal if dir is on a network file system.
func refuseNetwork(dir string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return err
	}
	if stat.Flags&unix.MNT_LOCAL == 0 {
		return refusal("would be on a network file system (%s), which cannot keep it safe: name a file on a local disk",
			unix.ByteSliceToString(stat.Fstypename[:]))
	}
	return nil
}
