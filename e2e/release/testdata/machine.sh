#!/bin/sh
# Runs the script $2 on a temporary copy of this machine, with the package $1 as /package. It
# runs as root, in a separate mount namespace, and changes only the directory $3. On the copy
#
#   - systemd seems to run: systemctl records its arguments and does nothing else, except that
#     a restart fails while there is a file /broken; calls prints the records.
#   - /manual is the script $4, of the manual.
set -eu
mount -t tmpfs tmpfs "$3"
mkdir "$3/upper" "$3/work" "$3/machine"
cp "$1" "$3/upper/package"
cp "$2" "$3/upper/script"
cp "$4" "$3/upper/manual"
mount -t overlay overlay -o "lowerdir=/,upperdir=$3/upper,workdir=$3/work" "$3/machine"
mount --rbind /dev "$3/machine/dev"
mount -t proc proc "$3/machine/proc"
cd "$3/machine"
mkdir -p run/systemd/system
install -m 0755 /dev/stdin usr/bin/systemctl <<'END'
#!/bin/sh
echo "$*" >>/calls
test "$1" != try-restart || test ! -e /broken
END
install -m 0755 /dev/stdin usr/bin/calls <<'END'
#!/bin/sh
test ! -e /calls || paste --serial --delimiters , /calls
rm -f /calls
END
exec chroot . /bin/sh -eu /script
