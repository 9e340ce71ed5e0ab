package bbolt

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestRefuseNetwork(t *testing.T) {
	t.Parallel()
	for name, magic := range map[string]int64{
		"NFS": unix.NFS_SUPER_MAGIC, "SMB": unix.SMB2_SUPER_MAGIC, "CIFS": unix.CIFS_SUPER_MAGIC, "Ceph": unix.CEPH_SUPER_MAGIC,
	} {
		// Some machines keep the number in 32 bits, with a sign.
		for _, magic := range []int64{magic, int64(int32(magic))} { //nolint:gosec // as they do
			if got := networkName(unix.Statfs_t{Type: magic}); got != name {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
	for name, magic := range map[string]int64{
		"ext4": unix.EXT4_SUPER_MAGIC, "XFS": unix.XFS_SUPER_MAGIC, "Btrfs": unix.BTRFS_SUPER_MAGIC, "tmpfs": unix.TMPFS_MAGIC,
		"overlay": unix.OVERLAYFS_SUPER_MAGIC, "FUSE": unix.FUSE_SUPER_MAGIC,
	} {
		if got := networkName(unix.Statfs_t{Type: magic}); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if err := refuseNetwork(t.TempDir()); err != nil {
		t.Error(err)
	}
}
