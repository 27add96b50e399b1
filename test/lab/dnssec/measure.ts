/**
 * `npm run lab-measure`: what validation costs, and what a zone that is made to be expensive costs others. Prints
 * two tables: secure answers per second of CPU, with keys still to be fetched and with keys at hand, beside
 * Unbound and PowerDNS Recursor forwarding to the same server; and the latency of cached names while a KeyTrap-like zone and one
 * with 2,500 NSEC3 iterations are asked 100 times a second each. It judges nothing: figures hold as ratios.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Dnskey } from '../../../dns-worker/dnssec/dnskey.ts';
import { readTrustAnchors } from '../../../shared/dns/trust-anchors.ts';
import { UdpClient } from '../../e2e/support/dns-client.ts';
import { Weir } from '../../e2e/support/weir-process.ts';
import { findProgram, type RunningServer } from '../../fixtures/authority.ts';
import { startAuthority, startForwarder, startPdnsForwarder, startRecursion } from './servers.ts';
import { hasSigningTools, signZones } from './sign-zones.ts';
import type { LabZone } from './zones.ts';

const COLD_ZONES = 200;
const WARM_NAMES = 3000;
const FAKE_KEYS = 12;
const FAKE_SIGNATURES = 40;
const ATTACK_PER_SECOND = 100;
const CACHED_PER_SECOND = 500;
const ROUND_MS = 4000;
const ROUNDS = 4;
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

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Seconds of CPU that a process has used. */
function cpuSecs(pid: number): number {
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

interface Measured {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
}

/** Asks every name once; says how many answers were authentic for each second of CPU, and of time. */
async function answersPerSecond(server: Measured, names: readonly string[]): Promise<string> {
  const client = await UdpClient.open(server.port);
  const cpuBefore = cpuSecs(server.pid);
  const startedMs = performance.now();
  let secure = 0;
  const queue = [...names];
  const ask = async (): Promise<void> => {
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      const reply = await client.ask(name, 'A', { edns: { dnssecOk: true } });
      if ((reply.bytes[3]! & 0x20) !== 0) secure++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  const elapsedSecs = (performance.now() - startedMs) / 1000;
  const cpu = cpuSecs(server.pid) - cpuBefore;
  client.close();
  const rate = (secs: number): string => (secure / Math.max(secs, 1 / TICKS)).toFixed(0);
  return `${String(secure)} of ${String(names.length)} secure, ${rate(cpu)} per CPU second, ${rate(elapsedSecs)} per second`;
}

/** Asks for cached names at a steady rate for a while; latencies in milliseconds. */
async function latencies(port: number, names: readonly string[], forMs: number): Promise<number[]> {
  const client = await UdpClient.open(port);
  const found: number[] = [];
  const open: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let i = 0; performance.now() - startedMs < forMs; i++) {
    const dueMs = startedMs + (i * 1000) / CACHED_PER_SECOND;
    const waitMs = dueMs - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    const askedMs = performance.now();
    open.push(
      client.ask(names[i % names.length]!, 'A').then(() => void found.push(performance.now() - askedMs)),
    );
  }
  await Promise.all(open);
  client.close();
  return found;
}

/** Asks expensive names until told to stop; counts response codes. */
async function attack(
  port: number,
  under: string,
  mark: string,
  isOver: () => boolean,
): Promise<Map<number, number>> {
  const client = await UdpClient.open(port);
  const rcodes = new Map<number, number>();
  const open: Promise<void>[] = [];
  for (let i = 0; !isOver(); i++) {
    const asked = client.ask(`${mark}-${String(i)}.${under}`, 'A', { edns: { dnssecOk: true } });
    open.push(asked.then(({ rcode }) => void rcodes.set(rcode, (rcodes.get(rcode) ?? 0) + 1)));
    await sleep(1000 / ATTACK_PER_SECOND);
  }
  await Promise.all(open);
  client.close();
  return rcodes;
}

function percentile(values: readonly number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN).toFixed(2);
}

async function measureAttack(weir: Measured): Promise<void> {
  const names = Array.from({ length: 50 }, (_, i) => `n${String(i)}.warm.org`);
  const warmUp = await UdpClient.open(weir.port);
  for (const name of names) await warmUp.ask(name, 'A');
  warmUp.close();
  const quiet: number[] = [];
  const disturbed: number[] = [];
  const rcodes: string[] = [];
  const cpuBefore = cpuSecs(weir.pid);
  for (let round = 0; round < ROUNDS; round++) {
    quiet.push(...(await latencies(weir.port, names, ROUND_MS)));
    let isOver = false;
    const mark = `r${String(round)}`;
    const attacks = ['wild.trap.org', 'slow.org'].map((under) =>
      attack(weir.port, under, mark, () => isOver),
    );
    disturbed.push(...(await latencies(weir.port, names, ROUND_MS)));
    isOver = true;
    for (const counted of await Promise.all(attacks)) rcodes.push(JSON.stringify([...counted]));
  }
  for (const [what, values] of [
    ['alone', quiet],
    ['under attack', disturbed],
  ] as const) {
    const figures = [0.5, 0.99, 0.999].map((share) => percentile(values, share)).join(' / ');
    print(`cached names ${what}: ${String(values.length)} answers, p50 / p99 / p99.9 ${figures} ms`);
  }
  const cpu = (cpuSecs(weir.pid) - cpuBefore).toFixed(2);
  print(`CPU of Weir over both: ${cpu} s; response codes of trap and slow by round: ${rcodes.join(' ')}`);
}

async function main(): Promise<void> {
  const nsd = findProgram('nsd');
  const unbound = findProgram('unbound');
  if (nsd === null || unbound === null || !hasSigningTools())
    throw new Error(
      'measure validation: packages nsd, unbound, bind9-utils, bind9-dnsutils, ldnsutils are needed',
    );
  const folder = mkdtempSync(join(tmpdir(), 'weir-measure-'));
  const servers: RunningServer[] = [];
  try {
    const { files, rootKeys } = signZones(ZONES, folder);
    const anchors = join(folder, 'anchors');
    writeFileSync(anchors, rootKeys);
    servers.push(await startAuthority(nsd, files));
    servers.push(await startRecursion(unbound, files, servers[0]!.port, null));
    const peer = await startForwarder(unbound, servers[1]!.port, rootKeys);
    servers.push(peer);
    const pools = `[dns]\ndnssec_enabled = true\ndnssec_trust_anchors = ${JSON.stringify(anchors)}
[[dns.pools]]\nname = "lab"\nservers = ["127.0.0.1:${String(servers[1]!.port)}"]\n`;
    await using weir = await Weir.start({ pools, withoutDatabase: true });
    const measured: Measured[] = [
      { name: 'weir', port: weir.dnsPort, pid: weir.pid },
      { name: 'unbound', port: peer.port, pid: peer.pid },
    ];
    // What lies in the cache of the server behind them costs neither of them anything.
    const cold = Array.from({ length: COLD_ZONES }, (_, i) => `www.cold${String(i)}.org`);
    const warm = Array.from({ length: WARM_NAMES }, (_, i) => `n${String(i)}.warm.org`);
    const pdns = findProgram('pdns_recursor');
    if (pdns !== null) {
      const started = await startPdnsForwarder(pdns, servers[1]!.port, rootDs(rootKeys));
      servers.push(started);
      measured.push({ name: 'pdns-recursor', port: started.port, pid: started.pid });
    }
    for (const server of measured) {
      print(`${server.name}, warm keys: ${await answersPerSecond(server, warm)}`);
      print(`${server.name}, cold keys: ${await answersPerSecond(server, cold)}`);
    }
    await measureAttack(measured[0]!);
  } finally {
    for (const server of servers.reverse()) await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
