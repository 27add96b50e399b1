/**
 * Secure answers per second of CPU, with keys at hand and with keys still to be fetched, of Weir, Unbound and
 * PowerDNS Recursor, all forwarding to the same server. Figures hold as ratios. `npm run bench -- validation` prints
 * them, and `npm run bench`; what expensive zones cost others is `measure.ts`.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dnskey } from '../../../dns-worker/dnssec/dnskey.ts';
import { readTrustAnchors } from '../../../shared/dns/trust-anchors.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';
import { type RunningServer, startNsdOn } from '../../support/dns/authority.ts';
import { findProgram } from '../../support/parts/programs.ts';
import { startForwarder, startPdnsForwarder, startRecursion } from './servers.ts';
import { hasSigningTools, signZones } from './sign-zones.ts';
import type { LabZone } from './zones.ts';

const COLD_ZONES = 200;
const WARM_NAMES = 3000;
const FAKE_KEYS = 12;
const FAKE_SIGNATURES = 40;
/** Clock ticks of /proc/pid/stat in a second. */
const TICKS = 100;
const AT_ONCE = 8;

const ZONES: readonly LabZone[] = [
  { name: '' },
  { name: 'org', nsec3: { iterations: 0 } },
  {
    name: 'warm.org',
    records: Array.from({ length: WARM_NAMES }, (_, i) => `n${String(i)} A 192.0.2.1`).join('\n') + '\n',
  },
  ...Array.from({ length: COLD_ZONES }, (_, i): LabZone => ({ name: `cold${String(i)}.org` })),
  { name: 'slow.org', nsec3: { iterations: 2500 } },
  { name: 'trap.org', algorithm: 'ED25519', moreKeys: collidingKeys, edit: addSignatures },
];

/** Keys with the tag of this one: words exchanged leave the sum as it is. */
function collidingKeys(key: string): string {
  const [, head, text] = /^(\S+ IN DNSKEY \d+ \d+ \d+) (.*)$/m.exec(key)!;
  const octets = Buffer.from(text!.replaceAll(' ', ''), 'base64');
  return Array.from({ length: FAKE_KEYS }, (_, i) => {
    const fake = Buffer.from(octets);
    octets.copy(fake, 2 * i, 2 * i + 2, 2 * i + 4);
    octets.copy(fake, 2 * i + 2, 2 * i, 2 * i + 2);
    return `${head!} ${fake.toString('base64')}\n`;
  }).join('');
}

/** Signatures of the wildcard that look like any other and hold for none of the keys. */
function addSignatures(lines: string[]): string[] {
  const own = lines.find((line) => /^\*\.wild\S*\s.*RRSIG\s+A /.test(line))!;
  const [head, text] = own.split(/(?<= trap\.org\. )/) as [string, string];
  const octets = Buffer.from(text.replaceAll(' ', ''), 'base64');
  const fakes = Array.from({ length: FAKE_SIGNATURES }, (_, i) => {
    const fake = Buffer.from(octets);
    fake[40] = i;
    fake[41] = fake[41]! ^ 0x55;
    return head + fake.toString('base64');
  });
  return [...lines.filter((line) => line !== own), ...fakes];
}

/** Seconds of CPU that a process has used. */
export function cpuSecs(pid: number): number {
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
    .split(') ')[1]!
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** The DS of a key in presentation form: tag, algorithm, digest type, digest. */
function rootDs(keys: string): string {
  const { zone, rdata } = readTrustAnchors(keys)[0]!;
  const digest = hash('sha256', Buffer.concat([zone, rdata]), 'hex');
  return `${String(Dnskey.read(rdata)!.tag)} ${String(rdata[3])} 2 ${digest}`;
}

/** A validator that is measured. */
export interface Measured {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

/** What one server came to. */
export interface SecureAnswers {
  readonly server: string;
  readonly keys: 'warm' | 'cold';
  readonly asked: number;
  readonly secure: number;
  readonly perCpuSecond: number;
  readonly perSecond: number;
}

/** Which packages the measure lacks, in words; null = none. */
export function missingTools(): string | null {
  const isComplete = findProgram('nsd') !== null && findProgram('unbound') !== null && hasSigningTools();
  return isComplete ? null : 'packages nsd, unbound, bind9-utils, ldnsutils are needed';
}

/** Starts the servers, asks each in turn, then lets `more` ask Weir. Throws if a package is missing. */
export async function measureSecureAnswers(
  more: (weir: Measured) => Promise<void> = () => Promise.resolve(),
): Promise<SecureAnswers[]> {
  const missing = missingTools();
  if (missing !== null) throw new Error(`measure validation: ${missing}`);
  const folder = mkdtempSync(join(tmpdir(), 'weir-measure-'));
  const servers: RunningServer[] = [];
  try {
    const { files, rootKeys } = signZones(ZONES, folder);
    const anchors = join(folder, 'anchors');
    writeFileSync(anchors, rootKeys);
    servers.push(await startNsdOn(files));
    servers.push(await startRecursion(files, servers[0]!.port, null));
    const { port } = servers[1]!;
    const peer = await startForwarder(port, rootKeys);
    servers.push(peer);
    const pools = `[dns]\ndnssec_enabled = true\ndnssec_trust_anchors = ${JSON.stringify(anchors)}
[[dns.pools]]\nname = "lab"\nservers = ["127.0.0.1:${String(port)}"]\n`;
    await using started = await Weir.start({ pools, database: 'none' });
    const weir = { name: 'weir', port: started.dnsPort, pid: started.pid };
    const measured: Measured[] = [weir, { name: 'unbound', port: peer.port, pid: peer.pid }];
    const pdns = findProgram('pdns_recursor');
    if (pdns !== null) {
      const recursor = await startPdnsForwarder(pdns, port, rootDs(rootKeys));
      servers.push(recursor);
      measured.push({ name: 'pdns-recursor', port: recursor.port, pid: recursor.pid });
    }
    const results: SecureAnswers[] = [];
    for (const server of measured) results.push(await askAll(server, 'warm'), await askAll(server, 'cold'));
    await more(weir);
    return results;
  } finally {
    for (const server of servers.reverse()) await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What lies in the cache of the server behind them costs none of them anything. */
const NAMES = {
  warm: Array.from({ length: WARM_NAMES }, (_, i) => `n${String(i)}.warm.org`),
  cold: Array.from({ length: COLD_ZONES }, (_, i) => `www.cold${String(i)}.org`),
};

/** Asks every name once, and counts the authentic answers. */
async function askAll({ name, port, pid }: Measured, keys: 'warm' | 'cold'): Promise<SecureAnswers> {
  const client = await UdpClient.open(port);
  const cpuBefore = cpuSecs(pid);
  const startedMs = performance.now();
  let secure = 0;
  const queue = [...NAMES[keys]];
  const ask = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const reply = await client.ask(next, 'A', { edns: { dnssecOk: true } });
      if ((reply.bytes[3]! & 0x20) !== 0) secure++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  const elapsedSecs = (performance.now() - startedMs) / 1000;
  const cpu = cpuSecs(pid) - cpuBefore;
  client.close();
  const rate = (secs: number): number => secure / Math.max(secs, 1 / TICKS);
  return {
    server: name,
    keys,
    asked: NAMES[keys].length,
    secure,
    perCpuSecond: rate(cpu),
    perSecond: rate(elapsedSecs),
  };
}
