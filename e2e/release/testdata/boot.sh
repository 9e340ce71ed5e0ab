#!/bin/sh
# Boots systemd on a temporary copy of this machine, with the package $1 as /package, and prints the output of
# the script $2 there. It runs as root, in separate namespaces of mounts, IPC and networks, and changes only the
# directory $3.
set -eu
cgroup=/sys/fs/cgroup/unified
test -d $cgroup || cgroup=/sys/fs/cgroup
own=$cgroup/plantstore-$$
mkdir "$own"
echo $$ >"$own/cgroup.procs"
mount -t tmpfs tmpfs "$3"
mkdir "$3/upper" "$3/work" "$3/machine"
cp "$1" "$3/upper/package"
cp "$2" "$3/upper/script"
mount -t overlay overlay -o "lowerdir=/,upperdir=$3/upper,workdir=$3/work" "$3/machine"
cat >"$3/init" <<'END_INIT'
set -eu
mount -t proc proc proc
mount -t sysfs sysfs sys -o ro
mount -t tmpfs tmpfs sys/fs/cgroup
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run -o mode=755
mount -t tmpfs tmpfs tmp -o mode=1777
mount -t tmpfs tmpfs dev -o mode=755
for device in null:3 zero:5 full:7 random:8 urandom:9; do
	mknod -m 666 "dev/${device%:*}" c 1 "${device#*:}"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ip link set lo up
systemd-id128 new >etc/machine-id
mkdir -p etc/systemd/journald.conf.d
printf '[Journal]\nRateLimitBurst=100\n' >etc/systemd/journald.conf.d/burst.conf
cat >etc/systemd/system/script.service <<'END_UNIT'
[Unit]
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
TimeoutStartSec=2min
ExecStart=/bin/sh -eu /script
StandardOutput=truncate:/output
StandardError=inherit
END_UNIT
mkdir old
pivot_root . old
umount -l /old
exec env -i container=other PATH="$PATH" /lib/systemd/systemd --unit=script.service
END_INIT
cd "$3/machine"
unshare --cgroup --mount --pid --fork --kill-child /bin/sh "$3/init" >&2 || status=$?
cat "$3/upper/output"
echo $$ >"$cgroup/cgroup.procs"
find "$own" -depth -type d -exec rmdir {} +
exit "${status:-0}"
