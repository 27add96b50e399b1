/**
 * The scripts of the Debian package, run on a copy of this machine's file system: an upgrade must not give root rights
 * to Weir's user.
 *
 * @needs root
 */
import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN = join(import.meta.dirname, '..', '..', 'deploy', 'debian');
const USER = 64997;

/** The machine for the scripts: its dpkg and adduser implement only what the scripts use. */
const MACHINE = `
set -e
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
cat >/mnt/root/postinst
exec chroot /mnt/root /bin/sh -c "$0"`;
const PACKAGE = `
set -e
rm -rf /run/systemd /etc/weir /usr/lib/weir
mkdir -p /usr/share/weir /usr/lib/weir/release
echo '# first' >/usr/share/weir/first-config.toml
echo weir:x:${USER}:${USER}::/var/lib/weir:/usr/sbin/nologin >>/etc/passwd
echo weir:x:${USER}: >>/etc/group
printf '#!/bin/sh\\necho 1.2' >/usr/bin/dpkg-query
printf '#!/bin/sh' >/usr/sbin/adduser
chmod 755 /usr/bin/dpkg-query /usr/sbin/adduser
echo secret >/etc/victim
chmod 600 /etc/victim
postinst() { sh /postinst configure; }
show() { stat --format '%n %U %a' "$@" 2>&1; }
as_weir() { runuser -u weir -- sh -c "$1"; }
`;

/** Runs commands on the copy, with the script as \`postinst\`; returns the lines that they print. */
function onCopy(commands: string): string[] {
  const output = execFileSync(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', MACHINE, PACKAGE + commands],
    {
      input: readFileSync(join(DEBIAN, 'postinst')),
      encoding: 'utf8',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    },
  );
  return output.trim().split('\n');
}

test('postinst creates a configuration file that root owns and Weir can read', () => {
  expect(
    onCopy('postinst; show /etc/weir /etc/weir/weir.toml /var/lib/weir; as_weir "cat /etc/weir/weir.toml"'),
  ).toEqual(['/etc/weir root 750', '/etc/weir/weir.toml root 640', '/var/lib/weir weir 700', '# first']);
});

test('postinst does not change an existing configuration file', () => {
  const commands = `postinst; echo '# mine' >/etc/weir/weir.toml; chmod 600 /etc/weir/weir.toml; postinst
    show /etc/weir /etc/weir/weir.toml; cat /etc/weir/weir.toml`;
  expect(onCopy(commands)).toEqual(['/etc/weir root 750', '/etc/weir/weir.toml root 600', '# mine']);
});

/** Weir's user was given the folder manually. */
const GIVEN = 'install -d -m 750 -o weir -g weir /etc/weir; ';

test.each([
  ['a link to a file of root', 'ln -s /etc/victim /etc/weir/weir.toml'],
  ['a broken link', 'ln -s /etc/new /etc/weir/weir.toml'],
  ['a folder', 'mkdir /etc/weir/weir.toml'],
])('postinst gives Weir no access through %s in place of its configuration file', (_what, put) => {
  const commands = `${GIVEN} as_weir '${put}'; postinst 2>/dev/null; show /etc/victim; ls /etc/new 2>&1 | grep -c 'No such'
    as_weir 'cat /etc/victim /etc/weir/weir.toml' 2>&1 | grep -c secret`;
  expect(onCopy(`${commands} || true`)).toEqual(['/etc/victim root 600', '1', '0']);
});
