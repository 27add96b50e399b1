/**
 * An attacker who sees no packets forges replies from the server's address. For each question, the tests compute the
 * number of forged packets that gives an even chance that one is accepted. Port and id are drawn again whenever a guess
 * has cost a port, so each packet has the same chance, and ln 2 of the number of combinations is expected. `BEFORE` is
 * the number for a resolver that keeps its port until the question is answered.
 */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { HardeningMode, HardeningSettings } from '../../../shared/policy/hardening-settings.ts';
import {
  answers,
  closeAll,
  pool,
  resolve,
  resolver,
  settingsOf,
  upstream,
} from '../../support/dns/asked-resolver.ts';
import { idOf, question } from '../../support/dns/built-messages.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { AskedWorker } from '../../support/parts/asked-worker.ts';
import { baking, cookieOf, isMixed, nameIn, replyTo, treatTcp } from '../../support/dns/odd-upstreams.ts';

const NAME = 'www.example.net';
const LETTERS = NAME.replace(/[^a-z]/g, '').length;
const CASES = 2 ** LETTERS;
const COOKIES = 2 ** 64;
const IDS = 2 ** 16;
const PORTS = portsOf(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'));
/**
 * The attacker tries all ids of all ports in sequence, so on average needs half of them; each further secret multiplies
 * this by the number of its values.
 */
const BEFORE = 0.5 * PORTS * IDS;

/** The part that sends questions to the server: a resolver, or both threads of a worker. */
type Asker = 'the resolver' | 'a worker';

const workers: AskedWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker[Symbol.asyncDispose]();
  await closeAll();
});

function portsOf(range: string): number {
  const [first = 0, last = 0] = range.trim().split(/\s+/).map(Number);
  return last - first + 1;
}

/** Opens a server; returns a function that queries the name, and the queries for the name that the server received. */
async function open(asker: Asker, cookies: HardeningMode, caseRandomization: HardeningMode) {
  const server = await upstream(baking);
  const hardening = { cookies, caseRandomization };
  return {
    server,
    ask: await askingOf(asker, server, hardening),
    queries: () =>
      server.udpQueries.filter((query) => nameIn(query).toLowerCase().includes('\x07example\x03net')),
  };
}

/** Returns a function that queries the name; in a worker, the answer thread makes the first try. */
async function askingOf(
  asker: Asker,
  server: ScriptedUpstream,
  hardening: HardeningSettings,
): Promise<() => Promise<unknown>> {
  if (asker === 'the resolver') {
    const by = resolver([pool('Failover', [settingsOf(server)])], { hardening });
    return () => resolve(by, question(NAME, 'A'));
  }
  const worker = await AskedWorker.start([settingsOf(server)], { hardening });
  workers.push(worker);
  return () => worker.ask(NAME);
}

/** Number of guesses of an attacker who immediately sees each port of a question, until the port is closed. */
async function guessesPerQuestion({ server, ask }: Awaited<ReturnType<typeof open>>): Promise<number> {
  // The system may choose the same port again.
  const sockets = new Set<string>();
  server.udpScript = (query) => {
    sockets.add(`${query.port} ${idOf(query.bytes)}`);
    const forged = replyTo(query);
    forged[1]! ^= 1;
    for (let i = 0; i < 100; i++) query.reply(forged);
  };
  await ask();
  return sockets.size;
}

describe.each<Asker>(['the resolver', 'a worker'])('an off-path attacker of %s', (asker) => {
  test.each<[string, HardeningMode, HardeningMode, number]>([
    ['neither', 'off', 'off', 1],
    ['mixed case', 'off', 'on', CASES],
    ['cookies', 'on', 'off', COOKIES],
    ['both', 'on', 'on', CASES * COOKIES],
  ])(
    'must guess port, ID, letter case and cookie of a query, as far as they are used: %s',
    async (_profile, cookies, mixed, values) => {
      const { ask, queries } = await open(asker, cookies, mixed);
      await ask();
      const [query] = queries();
      const marks = (isMixed(query!) ? CASES : 1) * (cookieOf(query!).length > 0 ? COOKIES : 1);
      expect(marks).toBe(values);
      const expected = Math.LN2 * PORTS * IDS * marks;
      expect(expected).toBeGreaterThanOrEqual(BEFORE * values);
    },
  );

  test('who sees the ports has one guess per query', async () => {
    const fixture = await open(asker, 'off', 'off');
    treatTcp(fixture.server, 'works', answers(9));
    expect(await guessesPerQuestion(fixture)).toBe(1);
  });

  test('who sees the ports has seventeen guesses per query if the server refuses TCP', async () => {
    const fixture = await open(asker, 'off', 'off');
    treatTcp(fixture.server, 'refused');
    expect(await guessesPerQuestion(fixture)).toBe(17);
  });
});
