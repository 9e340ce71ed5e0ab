package bbolt

import "golang.org/x/sys/unix"

// networkFileSystems returns the names of the file systems, by their magic
// numbers (statfs(2)), that keep files on other machines. Locks and mappings of
// files do not hold there what bbolt takes for granted.
func networkFileSystems() map[int64]string {
	return map[int64]string{
		unix.NFS_SUPER_MAGIC:  "NFS",
		unix.SMB_SUPER_MAGIC:  "SMB",
		unix.SMB2_SUPER_MAGIC: "SMB",
		unix.CIFS_SUPER_MAGIC: "CIFS",
		unix.AFS_SUPER_MAGIC:  "AFS",
		unix.CODA_SUPER_MAGIC: "Coda",
		unix.NCP_SUPER_MAGIC:  "NCP",
		unix.CEPH_SUPER_MAGIC: "Ceph",
		0x0BD00BD0:            "Lustre",
		0x47504653:            "GPFS",
	}
}

// refuseNetwork returns a refusal if dir is on a network file system.
func refuseNetwork(dir string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return err
	}
	return refuseType(int64(stat.Type)) //nolint:unconvert // it is an int32 on some machines
}

func refuseType(magic int64) error {
	if name, network := networkFileSystems()[magic&0xFFFFFFFF]; network {
		return refusal("would be on a network file system (%s), which cannot keep it safe: name a file on a local disk", name)
	}
	return nil
}
