# Installs the package for Debian, starts its unit, and creates a plant, which survives a restart and a
# kill. All of a burst of requests are in the log.
dpkg --install /package >/dev/null
systemctl enable --now plantstore 2>/dev/null
cd /etc/plantstore
TOKEN=$(runuser -u plantstore -- plantstore token)
create() {
	curl --silent http://127.0.0.1:8080/plants --header "Authorization: Bearer $TOKEN" --header 'Content-Type: application/json' \
		--data '{"id": 10, "name": "Monstera", "tag": "climber"}'
}
echo "created: $(create)"
systemctl restart plantstore
echo "restarted: $(create)"
systemctl kill --signal KILL plantstore
until [ "$(systemctl show --property NRestarts --value plantstore) $(systemctl is-active plantstore)" = '1 active' ]; do
	sleep 0.1
done
echo "killed: $(create)"
systemctl reload plantstore
systemctl start plantstore-backup
echo "backup: $(cd / && runuser -u plantstore -- plantstore plants count --storage-url /var/lib/plantstore-backup/plants-*.db) plants"
curl --silent 'http://127.0.0.1:8080/[1-1000]' >/dev/null
journalctl --sync
echo "logged: $(journalctl --unit plantstore --output cat | grep -c '"error":404')"
systemctl stop plantstore
echo "stopped: $(systemctl show --property Result --value plantstore)"
