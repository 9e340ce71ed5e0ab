# Installs the package for RPM, upgrades it and removes it: rpm runs the scripts with the
# same arguments as on other systems. The dependencies of the package have other names on
# Debian, and its rpm requires a flag.
on_debian=$(rpm --help | grep -o -e --force-debian || true)
run_rpm() { rpm --nodeps $on_debian "$@" 2>/dev/null; }

run_rpm --install /package
echo "installed: $(stat --format '%a %U:%G' /etc/plantstore/.env), $(getent passwd plantstore | cut -d : -f 6,7)"
echo "systemctl: $(calls)"
plantstore version | cut -d ' ' -f 1
(cd /etc/plantstore && runuser -u plantstore -- plantstore plants import --quiet /dev/null)

echo 'ADDR=:80' >>/etc/plantstore/.env
run_rpm --upgrade --force /package
echo "upgraded: $(tail -n 1 /etc/plantstore/.env)"
echo "systemctl: $(calls)"

run_rpm --erase plantstore
echo "removed: $(ls /usr/bin/plantstore 2>/dev/null || echo no program), $(tail -n 1 /etc/plantstore/.env.rpmsave), $(stat --format %U /var/lib/plantstore/plants.db)"
echo "systemctl: $(calls)"
