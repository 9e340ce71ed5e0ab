#!/bin/sh
# Before a removal, but not before an upgrade: the argument of dpkg is remove, of rpm 0.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now plantstore.service plantstore-backup.timer
	fi
	;;
esac
