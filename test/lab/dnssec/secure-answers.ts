/**
 * Secure answers per CPU second, with cached keys and with keys that must be fetched, of Weir, Unbound and PowerDNS
 * Recursor, all forwarding to the same server, in three rotations. Only ratios are meaningful. `npm run bench --
 * validation` and `npm run bench` print them; `measure.ts` measures the effect of expensive zones.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dnskey } from '../../../dns-worker/dnssec/dnskey.ts';
import { readTrustAnchors } from '../../../shared/dns/trust-anchors.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { Weir } from '../../support/weir/weir-process.ts';
import { type RunningProgram, type RunningServer, startNsdOn } from '../../support/dns/authority.ts';
import { findProgram } from '../../support/parts/programs.ts';
import { startForwarder, startPdnsForwarder, startRecursion } from './servers.ts';
import { hasSigningTools, signZones } from './sign-zones.ts';
import type { LabZone } from './zones.ts';

const COLD_ZONES = 500;
/** Number of names: enough that V8's initial compilation, about a CPU second, is a small part. */
const WARM_NAMES = 40_000;
const ROTATIONS = 3;
const FAKE_KEYS = 12;
const FAKE_SIGNATURES = 40;
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

/** Keys with the same tag as this key: swapping words does not change the sum from which the tag is computed. */
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

/** Signatures of the wildcard that look valid but match none of the keys. */
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

/** CPU seconds that the threads of a process have used. */
export function cpuSecs(pid: number): number {
  const tasks = `/proc/${String(pid)}/task`;
  const used = readdirSync(tasks).map(
    (task) => readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0],
  );
  return used.reduce((sum, ns) => sum + Number(ns) / 1e9, 0);
}

/** The DS of a key in presentation form: tag, algorithm, digest type, digest. */
function rootDs(keys: string): string {
  const { zone, rdata } = readTrustAnchors(keys)[0]!;
  const digest = hash('sha256', Buffer.concat([zone, rdata]), 'hex');
  return `${String(Dnskey.read(rdata)!.tag)} ${String(rdata[3])} 2 ${digest}`;
}

/** A measured validator. */
export interface Measured {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

/** The answers of a server in one rotation. */
interface Round {
  readonly secure: number;
  readonly perCpuSecond: number;
  readonly perSecond: number;
}

/** Result of one server; rates are medians of the rotations. */
export interface SecureAnswers {
  readonly server: string;
  readonly keys: Keys;
  readonly asked: number;
  /** The lowest number of secure answers in a rotation. */
  readonly secure: number;
  readonly perCpuSecond: number;
  readonly perSecond: number;
  /** Answers per CPU second relative to Unbound's in the same rotation: minimum, median, maximum. */
  readonly ofUnbound: readonly number[];
}

/** Whether the keys of the zone are cached when a name is queried. */
type Keys = 'warm' | 'cold';

/** The packages that are missing, as a sentence; null = none. */
export function missingTools(): string | null {
  const isComplete = findProgram('nsd') !== null && findProgram('unbound') !== null && hasSigningTools();
  return isComplete ? null : 'packages nsd, unbound, bind9-utils, ldnsutils are needed';
}

/**
 * Queries Unbound, Weir and PowerDNS Recursor in turn, restarting each in each rotation, then passes the last Weir
 * server to `more`. Throws if a package is missing.
 */
export async function measureSecureAnswers(
  more: (weir: Measured) => Promise<void> = () => Promise.resolve(),
): Promise<SecureAnswers[]> {
  const missing = missingTools();
  if (missing !== null) throw new Error(`measure validation: ${missing}`);
  const folder = mkdtempSync(join(tmpdir(), 'weir-measure-'));
  const servers: RunningServer[] = [];
  const rounds = new Map<string, Record<Keys, Round[]>>();
  try {
    const signed = signZones(ZONES, folder);
    const anchors = join(folder, 'anchors');
    writeFileSync(anchors, signed.rootKeys);
    servers.push(await startNsdOn(signed.files));
    servers.push(await startRecursion(signed.files, servers[0]!.port, null));
    const upstream = { port: servers[1]!.port, rootKeys: signed.rootKeys, anchors };
    for (let rotation = 1; rotation <= ROTATIONS; rotation++)
      await eachServer(upstream, async (server) => {
        const found = rounds.get(server.name) ?? { warm: [], cold: [] };
        rounds.set(server.name, found);
        for (const keys of ['warm', 'cold'] as const) found[keys].push(await askAll(server, keys));
        if (server.name === 'weir' && rotation === ROTATIONS) await more(server);
      });
    return [...rounds].flatMap(([server, found]) =>
      (['warm', 'cold'] as const).map((keys) =>
        sumUp(server, keys, found[keys], rounds.get('unbound')![keys]),
      ),
    );
  } finally {
    for (const server of servers.reverse()) await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts each validator in front of the recursive server, passes it to the caller, and stops it. */
async function eachServer(
  { port, rootKeys, anchors }: { port: number; rootKeys: string; anchors: string },
  use: (server: Measured) => Promise<void>,
): Promise<void> {
  const useAndClose = async (name: string, server: RunningProgram): Promise<void> => {
    try {
      await use({ name, port: server.port, pid: server.pid });
    } finally {
      await server.close();
    }
  };
  await useAndClose('unbound', await startForwarder(port, rootKeys));
  const pools = `[dns]\ndnssec_enabled = true\ndnssec_trust_anchors = ${JSON.stringify(anchors)}
[[dns.pools]]\nname = "lab"\nservers = ["127.0.0.1:${String(port)}"]\n`;
  {
    await using weir = await Weir.start({ pools, database: 'none' });
    await use({ name: 'weir', port: weir.dnsPort, pid: weir.pid });
  }
  const pdns = findProgram('pdns_recursor');
  if (pdns !== null)
    await useAndClose('pdns-recursor', await startPdnsForwarder(pdns, port, rootDs(rootKeys)));
}

function sumUp(
  server: string,
  keys: Keys,
  rounds: readonly Round[],
  unbound: readonly Round[],
): SecureAnswers {
  const inOrder = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
  const median = (values: readonly number[]): number => inOrder(values)[values.length >> 1]!;
  return {
    server,
    keys,
    asked: NAMES[keys].length,
    secure: Math.min(...rounds.map((it) => it.secure)),
    perCpuSecond: median(rounds.map((it) => it.perCpuSecond)),
    perSecond: median(rounds.map((it) => it.perSecond)),
    ofUnbound: inOrder(rounds.map((it, i) => it.perCpuSecond / unbound[i]!.perCpuSecond)),
  };
}

/** Names in the cache of the upstream server, so that no validator has to wait for upstream's own queries. */
const NAMES = {
  warm: Array.from({ length: WARM_NAMES }, (_, i) => `n${String(i)}.warm.org`),
  cold: Array.from({ length: COLD_ZONES }, (_, i) => `www.cold${String(i)}.org`),
};

/** Queries every name once, and counts the authentic answers. */
async function askAll({ port, pid }: Measured, keys: Keys): Promise<Round> {
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
  return { secure, perCpuSecond: secure / cpu, perSecond: secure / elapsedSecs };
}
