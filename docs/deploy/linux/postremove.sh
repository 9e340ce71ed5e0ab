#!/bin/sh
# After a removal. The plants in /var/lib/plantstore stay, and so does the user who
# owns them.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
