#!/bin/sh
# Installs the package $1 for Debian on a copy of this machine that lasts as long as
# this script, uses what it installed, and removes it. It runs as root, with mounts of
# its own, and changes the folder $2 and nothing else.
set -eu
mount -t tmpfs tmpfs "$2"
mkdir "$2/upper" "$2/work" "$2/machine"
cp "$1" "$2/upper/plantstore.deb"
mount -t overlay overlay -o "lowerdir=/,upperdir=$2/upper,workdir=$2/work" "$2/machine"
mount --rbind /dev "$2/machine/dev"
mount -t proc proc "$2/machine/proc"
exec chroot "$2/machine" /bin/sh -eu <<'END'
env=/etc/plantstore/plantstore.env
count() { runuser -u plantstore -- plantstore plants count --storage-url /var/lib/plantstore/plants.db; }

dpkg --install /plantstore.deb >/dev/null
echo "installed: $(stat --format '%a %U:%G' $env), $(getent passwd plantstore | cut -d : -f 6,7)"
plantstore version | cut -d ' ' -f 1
systemd-analyze verify /usr/lib/systemd/system/plantstore.service

# What systemd does for StateDirectory.
install --directory --mode 0700 --owner plantstore --group plantstore /var/lib/plantstore
echo '{"id":1,"name":"Monstera"}' | runuser -u plantstore -- plantstore plants import --quiet --storage-url /var/lib/plantstore/plants.db -
echo "plants: $(count)"

echo 'ADDR=:80' >>$env
dpkg --install /plantstore.deb >/dev/null
echo "upgraded: $(tail -n 1 $env), $(count) plants"

dpkg --remove plantstore >/dev/null 2>&1
echo "removed: $(ls /usr/bin/plantstore 2>/dev/null || echo no program), $(tail -n 1 $env), $(stat --format %U /var/lib/plantstore/plants.db)"
dpkg --purge plantstore >/dev/null 2>&1
echo "purged: $(ls $env 2>/dev/null || echo no configuration), $(stat --format %U /var/lib/plantstore/plants.db)"
END
