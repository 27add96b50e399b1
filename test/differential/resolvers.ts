/** Unbound and BIND as forwarders without validation, in front of the same upstream as Weir. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, type RunningProgram } from '../support/dns/authority.ts';
import { startUnboundZones } from '../support/dns/policy-servers.ts';
import { findProgram } from '../support/parts/programs.ts';
import { freePort } from '../support/weir/free-ports.ts';

const LOOPBACK = '127.0.0.1';

/** Starts Unbound with a configuration that makes it keep querying a server that often fails. */
export function startUnbound(upstreamPort: number): Promise<RunningProgram> {
  const patience = ['infra-keep-probing: yes', 'infra-host-ttl: 1', 'infra-cache-max-rtt: 2000'];
  const load = ['outgoing-range: 4096', 'num-queries-per-thread: 2048', 'ratelimit: 0', 'ip-ratelimit: 0'];
  return startUnboundZones([...patience, ...load], upstreamPort);
}

/** Starts BIND. */
export async function startBind(upstreamPort: number): Promise<RunningProgram> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-diff-bind-'));
  const port = await freePort([LOOPBACK]);
  const config = `options {
  directory "${folder}";
  pid-file none;
  session-keyfile "${folder}/session.key";
  managed-keys-directory "${folder}";
  listen-on port ${String(port)} { ${LOOPBACK}; };
  listen-on-v6 { none; };
  allow-query { 127.0.0.0/8; };
  recursion yes;
  recursive-clients 10000;
  fetches-per-server 0;
  forward only;
  forwarders { ${LOOPBACK} port ${String(upstreamPort)}; };
  dnssec-validation no;
  empty-zones-enable no;
  servfail-ttl 0;
};
logging { category default { null; }; };
controls { };
`;
  writeFileSync(join(folder, 'named.conf'), config);
  return run(program('named'), ['-f', '-n', '1', '-c', join(folder, 'named.conf')], folder, port);
}

function program(name: string): string {
  const found = findProgram(name);
  if (found === null) throw new Error(`differential: ${name} is not installed`);
  return found;
}
