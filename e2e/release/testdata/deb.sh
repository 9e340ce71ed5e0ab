# Installs the package for Debian, uses what it installed, upgrades it, removes it and
# purges it.
env=/etc/plantstore/.env
data=/var/lib/plantstore

ln /package /plantstore.deb
dpkg --install /plantstore.deb >/dev/null
echo "installed: $(stat --format '%a %U:%G' $env), $(getent passwd plantstore | cut -d : -f 6,7)"
echo "systemctl: $(calls)"
plantstore version | cut -d ' ' -f 1
units=/usr/lib/systemd/system/plantstore
systemd-analyze verify $units.service $units-backup.service $units-backup.timer

echo '{"id":1,"name":"Monstera"}' | (cd / && runuser -u plantstore -- plantstore plants import --quiet --storage-url $data/plants.db -)
echo "JWT_ISSUER='https://issuer.example/a;b'" >>$env

# The commands of the manual, in root's home directory. They also generate the secret.
chmod 0700 /root
cd /root
sh -eu /manual 2>/dev/null | while read -r line; do
	case $line in
	*.*.*) echo "manual: a token with $(echo "$line" | cut -d . -f 2 | tr _- /+ | base64 --decode 2>/dev/null | grep -o '"iss":"[^"]*"')" ;;
	*) echo "manual: $line" ;;
	esac
done
echo "data: $(stat --format '%U %a' $data/* | sort -u), $(ls $data | paste --serial --delimiters ' ')"

# What the timer runs, as systemd expands it, when there are eight older backups.
backups=/var/lib/plantstore-backup
install -d -m 0700 -o plantstore $backups
for day in 1 2 3 4 5 6 7 8; do
	runuser -u plantstore -- touch $backups/plants-2020-01-0$day.db
done
sed -n '/^ExecStart=/,/[^\\]$/p' $units-backup.service | sed 's/^ExecStart=//; s/\\$//; s/\$\$/$/g; s/%%/%/g' >/backup
(cd /etc/plantstore && KEEP=7 runuser -u plantstore -- sh /backup >/dev/null)
echo "backups: $(ls $backups | wc -l) from $(ls $backups | head -n 1) on, $(cd / && runuser -u plantstore -- plantstore plants count --storage-url $backups/$(ls $backups | tail -n 1)) plant"

echo 'ADDR=:80' >>$env
dpkg --install /plantstore.deb >/dev/null
echo "upgraded: $(tail -n 1 $env), $(cd / && runuser -u plantstore -- plantstore plants count --storage-url $data/plants.db) plants"
echo "systemctl: $(calls)"
touch /broken
echo "upgraded: $(dpkg --install /plantstore.deb 2>&1 >/dev/null), $(dpkg-query --show --showformat '${db:Status-Status}' plantstore)"
rm /broken
calls >/dev/null

dpkg --remove plantstore >/dev/null 2>&1
echo "removed: $(ls /usr/bin/plantstore 2>/dev/null || echo no program), $(tail -n 1 $env), $(stat --format %U $data/plants.db)"
echo "systemctl: $(calls)"
dpkg --purge plantstore >/dev/null 2>&1
echo "purged: $(ls $env 2>/dev/null || echo no configuration), $(stat --format %U $data/plants.db)"
echo "systemctl: $(calls)"
