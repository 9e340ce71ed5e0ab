package bbolt

import "golang.org/x/sys/unix"

// networkName returns the name of a network file system by its magic number (statfs(2)),
// "" for another one. On these, locks and mappings of files do not do what bbolt requires.
func networkName(stat unix.Statfs_t) string {
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
	}[int64(stat.Type)&0xFFFFFFFF] //nolint:unconvert // it is an int32 on some machines
}
