#!/bin/sh
# After an installation or an upgrade. The first installation does not start the server:
# it has to be configured first.
set -e
if ! getent passwd plantstore >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/plantstore --no-create-home \
		--shell /usr/sbin/nologin plantstore
fi
# Commands in /etc/plantstore have the configuration of the server, which its user may read.
chgrp plantstore /etc/plantstore/.env
chmod 0640 /etc/plantstore/.env
install -d -m 0700 -o plantstore -g plantstore /var/lib/plantstore
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	# A server that does not start again must not leave the package half installed.
	systemctl try-restart plantstore.service ||
		echo "plantstore: the server did not start again: see journalctl --unit plantstore" >&2
fi
