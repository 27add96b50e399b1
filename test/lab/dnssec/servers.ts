/**
 * The resolvers of the DNSSEC lab, on loopback in front of its authority: one Unbound as the upstream of Weir and delv,
 * and one as a validator for comparison.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, type RunningProgram } from '../../support/dns/authority.ts';
import { requireProgram } from '../../support/parts/programs.ts';
import { freePort } from '../../support/weir/free-ports.ts';
import type { ZoneFile } from './sign-zones.ts';

/**
 * Starts Unbound for the zones of an authority; with `rootKeys` it validates. Each zone is a stub zone: a delegation
 * cannot specify a port, and with a single stub zone for all, Unbound would look for DS records in the wrong place.
 */
export function startRecursion(
  zones: readonly ZoneFile[],
  authorityPort: number,
  rootKeys: string | null,
): Promise<RunningProgram> {
  const server = `127.0.0.1@${String(authorityPort)}`;
  const stubs = zones.map(({ zone }) => `stub-zone:\n  name: "${zone}"\n  stub-addr: ${server}\n`);
  return startUnbound(stubs.join(''), rootKeys);
}

/** Starts Unbound as a validator that forwards everything to a resolver. */
export function startForwarder(resolverPort: number, rootKeys: string): Promise<RunningProgram> {
  const forward = `forward-zone:\n  name: "."\n  forward-addr: 127.0.0.1@${String(resolverPort)}\n`;
  return startUnbound(forward, rootKeys);
}

/**
 * Starts PowerDNS Recursor as a validator that forwards everything to a resolver; `rootDs` is the RDATA of the root's
 * DS.
 */
export async function startPdnsForwarder(
  program: string,
  resolverPort: number,
  rootDs: string,
): Promise<RunningProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-lab-pdns-'));
  const port = await freePort(['127.0.0.1']);
  writeFileSync(join(folder, 'anchors.lua'), `clearTA(".")\naddTA(".", "${rootDs}")\n`);
  const config = `daemon=no
threads=1
pdns-distributes-queries=no
local-address=127.0.0.1
local-port=${String(port)}
socket-dir=${folder}
config-dir=${folder}
security-poll-suffix=
dont-query=
forward-zones-recurse=.=127.0.0.1:${String(resolverPort)}
dnssec=validate
lua-config-file=${folder}/anchors.lua
allow-from=127.0.0.0/8
loglevel=3
quiet=yes
`;
  writeFileSync(join(folder, 'recursor.conf'), config);
  return run(program, [`--config-dir=${folder}`], folder, port);
}

async function startUnbound(zones: string, rootKeys: string | null): Promise<RunningProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-lab-unbound-'));
  const port = await freePort(['127.0.0.1']);
  if (rootKeys !== null) writeFileSync(join(folder, 'root.key'), rootKeys);
  const validation = rootKeys === null ? '' : `  trust-anchor-file: "${folder}/root.key"\n`;
  const config = `server:
  interface: 127.0.0.1
  port: ${String(port)}
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  do-not-query-localhost: no
  module-config: "${rootKeys === null ? '' : 'validator '}iterator"
  ede: yes
  local-zone: "test." nodefault
${validation}remote-control:
  control-enable: no
${zones}`;
  writeFileSync(join(folder, 'unbound.conf'), config);
  return run(requireProgram('unbound'), ['-d', '-c', join(folder, 'unbound.conf')], folder, port);
}
