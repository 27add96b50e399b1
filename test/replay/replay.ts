/**
 * Replays a file of real questions against a real Weir server with real lists, and reports the results: the share of
 * blocked names compared with a reference, each difference with its kind, SERVFAILs, losses, and whether the query log
 * is complete. Exits with 1 if something was lost or failed.
 *
 *   npm run replay -- [--lists DIR] [--queries FILE] [--expected FILE] [--back-end batch|dgram]
 *
 * Without paths: the sample data in $WEIR_BENCH_DATA, or beside the checkout.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ExtendedError, Rcode, RRType } from '../../shared/dns/iana.ts';
import { findSampleData } from '../bench/material/sample-data.ts';
import type { Question } from '../bench/material/asked-question.ts';
import { UdpClient } from '../support/dns/dns-client.ts';
import { freePort } from '../support/weir/free-ports.ts';
import { ownEnvironment, OwnProcess, Weir } from '../support/weir/weir-process.ts';
import { differences, Explanations } from './comparison.ts';
import type { Difference } from './comparison.ts';
import { listsIn, readExpected, readQuestions, readText } from './reference.ts';
import type { ReplayedList } from './reference.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const CLIENTS = 8;
const IN_FLIGHT_PER_CLIENT = 32;
const EXAMPLES_PER_KIND = 5;

interface Tally {
  readonly observations: Map<string, { blocked: number; allowed: number }>;
  readonly rcodes: Map<number, number>;
  blocked: number;
  lost: number;
  elapsedSecs: number;
}

function paths(): { lists: string; queries: string; expected: string; backEnd: 'batch' | 'dgram' } {
  const { values } = parseArgs({
    options: {
      lists: { type: 'string' },
      queries: { type: 'string' },
      expected: { type: 'string' },
      'back-end': { type: 'string', default: 'batch' },
    },
  });
  const sample = findSampleData(ROOT);
  const path = (given: string | undefined, name: string): string => {
    if (given !== undefined) return given;
    if (sample === undefined)
      throw new Error('find sample data: set WEIR_BENCH_DATA, or give --lists, --queries and --expected');
    return join(sample, name);
  };
  return {
    lists: path(values.lists, 'lists'),
    queries: path(values.queries, 'queries.txt.gz'),
    expected: path(values.expected, 'queries.blocked.tsv.gz'),
    backEnd: values['back-end'] === 'dgram' ? 'dgram' : 'batch',
  };
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function percent(part: number, whole: number): string {
  return `${((part / whole) * 100).toFixed(3)} %`;
}

/** Adds the lists as sources, one after another, and waits until each is active. */
async function load(weir: Weir, lists: readonly ReplayedList[]): Promise<void> {
  const api = await weir.api();
  for (const { name, file, subdomains } of lists) {
    const startedMs = performance.now();
    const source = await api.addSource({ name, url: pathToFileURL(file).href, subdomains });
    const secs = ((performance.now() - startedMs) / 1000).toFixed(1);
    print(
      `  ${name}: ${source.status}, ${source.rules} rules, ${source.invalid_lines} invalid lines, ${secs} s`,
    );
    if (source.status !== 'ok') throw new Error(`load ${file}: ${source.last_error ?? 'unknown reason'}`);
  }
}

/** Sends every question once, in order, distributed over all clients; a question without a reply is lost. */
async function ask(port: number, questions: readonly Question[]): Promise<Tally> {
  const tally: Tally = { observations: new Map(), rcodes: new Map(), blocked: 0, lost: 0, elapsedSecs: 0 };
  const types = RRType as Readonly<Record<string, number>>;
  let next = 0;
  const askOn = async (client: UdpClient): Promise<void> => {
    while (next < questions.length) {
      const { name, type } = questions[next++]!;
      const qtype = types[type] ?? Number(type.replace('TYPE', ''));
      const reply = await client.ask(name, qtype, { edns: {} }).catch(() => null);
      if (reply === null) {
        tally.lost++;
        continue;
      }
      const isBlocked = reply.extendedErrors.includes(ExtendedError.BLOCKED);
      const folded = name.toLowerCase();
      const observed = tally.observations.get(folded) ?? { blocked: 0, allowed: 0 };
      observed[isBlocked ? 'blocked' : 'allowed']++;
      tally.observations.set(folded, observed);
      tally.blocked += isBlocked ? 1 : 0;
      tally.rcodes.set(reply.rcode, (tally.rcodes.get(reply.rcode) ?? 0) + 1);
    }
  };
  const startedMs = performance.now();
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => UdpClient.open(port)));
  await Promise.all(
    clients.flatMap((client) => Array.from({ length: IN_FLIGHT_PER_CLIENT }, () => askOn(client))),
  );
  for (const client of clients) client.close();
  tally.elapsedSecs = (performance.now() - startedMs) / 1000;
  return tally;
}

function printDifferences(found: readonly Difference[], names: number): void {
  print(`Differences from the reference: ${found.length} of ${names} names`);
  const kinds = Map.groupBy(
    found,
    ({ kind, expectedBy }) =>
      `${kind}${expectedBy.length > 0 ? `, expected by ${expectedBy.join(' and ')}` : ''}`,
  );
  for (const [kind, members] of [...kinds].sort(([, a], [, b]) => b.length - a.length)) {
    print(
      `  ${kind}: ${members.length} names, ${members.reduce((sum, { asked }) => sum + asked, 0)} queries`,
    );
    for (const { name, asked, because } of members.slice(0, EXAMPLES_PER_KIND))
      print(`    ${name} (${asked})${because === null ? '' : `: ${because}`}`);
  }
}

/** Runs the replay; returns whether nothing was lost and nothing failed. */
async function replay(): Promise<boolean> {
  const given = paths();
  const lists = listsIn(given.lists);
  const questions = readQuestions(given.queries);
  const expected = readExpected(given.expected);
  const upstreamPort = await freePort(['127.0.0.1']);
  await using upstream = new OwnProcess(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(ROOT, 'test', 'bench', 'node-upstream.ts'),
      String(upstreamPort),
    ],
    { env: ownEnvironment() },
  );
  await upstream.untilOutput(/ready/);
  await using weir = await Weir.start({
    backEnd: given.backEnd,
    upstreams: [`127.0.0.1:${String(upstreamPort)}`],
    toml: `[blocking]\nlist_dirs = [${JSON.stringify(given.lists)}]\n`,
  });
  print(`Lists, through the API (back end ${given.backEnd}):`);
  await load(weir, lists);

  const tally = await ask(weir.dnsPort, questions);
  const api = await weir.api();
  const answered = questions.length - tally.lost;
  const rows = await api.untilQueryCount(answered);
  const blockedRows = await api.queryCount('status=BLOCKED_LIST');
  const expectedBlocked = questions.filter(({ name }) => expected.has(name.toLowerCase())).length;
  const servfail = tally.rcodes.get(Rcode.SERVFAIL) ?? 0;
  const rcodes = [...tally.rcodes].map(([rcode, count]) => `${nameOf(rcode)} ${count}`).join(', ');
  print(
    `Queries: ${questions.length} sent in ${tally.elapsedSecs.toFixed(1)} s, ${tally.lost} lost, ${servfail} SERVFAIL (${rcodes})`,
  );
  print(
    `Blocked: ${tally.blocked} (${percent(tally.blocked, questions.length)}), expected ${expectedBlocked} (${percent(expectedBlocked, questions.length)})`,
  );
  print(
    `query_log: ${rows} rows for ${answered} answers, ${blockedRows} of them blocked, threads replaced: ${weir.replacedThreads}`,
  );
  printDifferences(
    differences(
      tally.observations,
      expected,
      new Explanations(lists.flatMap(({ file }) => readText(file).split('\n'))),
    ),
    tally.observations.size,
  );
  await weir.stop();
  return tally.lost === 0 && servfail === 0 && rows === questions.length && blockedRows === tally.blocked;
}

function nameOf(rcode: number): string {
  return Object.entries(Rcode).find(([, code]) => code === rcode)?.[0] ?? String(rcode);
}

process.exitCode = (await replay()) ? 0 : 1;
