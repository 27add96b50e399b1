/**
 * `npm run bench -- validation`: cost of validation, and the effect of a deliberately expensive zone on other queries.
 * Prints two tables: the secure answers per CPU second from `secure-answers.ts`, and the latency of cached names while
 * a KeyTrap-like zone and a zone with 2,500 NSEC3 iterations each get 100 queries per second. There is no pass or fail;
 * only ratios between figures are meaningful.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { type Measured, cpuSecs, measureSecureAnswers } from './secure-answers.ts';

const ATTACK_PER_SECOND = 100;
const CACHED_PER_SECOND = 500;
const ROUND_MS = 4000;
const ROUNDS = 4;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Queries cached names at a steady rate for a time; latencies in milliseconds. */
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

/** Queries expensive names until stopped; counts response codes. */
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

const answers = await measureSecureAnswers(measureAttack);
for (const { server, keys, asked, secure, perCpuSecond, perSecond, ofUnbound } of answers)
  print(
    `${server}, ${keys} keys: ${String(secure)} of ${String(asked)} secure, ` +
      `${perCpuSecond.toFixed(0)} per CPU second, ${ofUnbound.map((it) => it.toFixed(2)).join(' / ')} of unbound, ` +
      `${perSecond.toFixed(0)} per second`,
  );
