/**
 * `npm run fuzz -- answers [--answers N] [--seed N]`: an upstream gives N answers, most of them faulty, to Weir,
 * Unbound and BIND, each for a different name. It is a finding if Weir accepts an answer that Unbound and BIND reject,
 * or rejects an answer that both accept. Fails if a finding has no reason in the tables below. Needs unbound and bind9.
 * `--index N` shows one answer.
 */
import { parseArgs } from 'node:util';
import type { ReceivedQuery } from '../support/dns/scripted-upstream.ts';
import { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import { Weir } from '../support/weir/weir-process.ts';
import { failure, goodAnswer, kindsOf, mutatedAnswer, typeOf, ZONE } from './mutated-answers.ts';
import { RawClient } from './raw-client.ts';
import { startBind, startUnbound } from './resolvers.ts';

/** Result of an answer at a resolver. */
type Outcome = 'answer' | 'no data' | 'refused';

/** Number of questions in flight. */
const IN_FLIGHT = 300;
/**
 * Time after which a resolver that rejects the faulty answer gets a failure, so that it need not wait for its time-out.
 */
const FAILURE_AFTER_MS = 40;
const CALM_IN_FLIGHT = 20;
/** Number of turns in which a finding must be reproduced. */
const CALM_TURNS = 2;
const REPORT_EVERY = 5000;
/** Number of findings that are shown individually. */
const SHOWN = 3;

/** Answers that Weir accepts and Unbound and BIND reject, each by a pattern of its kind, with the reason. */
const EXPLAINED: readonly (readonly [kind: RegExp, reason: string])[] = [
  [
    /another type|another class/u,
    'records of other types and classes are dropped; those that answer the question are relayed',
  ],
  [
    /a pointer in data|data too short|length of a record|broken SOA|options of OPT/u,
    'only relayed data are parsed; malformed data of other questions are dropped',
  ],
  [
    /two aliases|an alias beside data|a ring of aliases/u,
    'the first record that answers is relayed, the others are dropped',
  ],
  [
    /a DNAME|records of another name|a pointer as owner|an odd label/u,
    'records that are not on the chain of the question are dropped',
  ],
  [/bytes after the end|a count|a TTL/u, 'the records are complete; bytes after them mean nothing'],
  [/a few bytes/u, 'a record has another type, for which its data are malformed: it is dropped'],
  [/an alias to itself/u, 'there are data of the queried type: the alias beside them is dropped'],
  [
    /a flag|another rcode|TC/u,
    'flags of a response other than QR, opcode, TC and the rcode mean nothing to a forwarder',
  ],
];

/** Answers that Weir rejects and Unbound and BIND accept, each by a pattern of its kind, with the reason. */
const EXPLAINED_REFUSALS: readonly (readonly [kind: RegExp, reason: string])[] = [
  [/a ring of aliases/u, 'a loop of aliases is an error (RFC 1034 section 3.6.2), not an answer'],
  [/a long chain/u, 'a chain of more than 16 aliases; no name in use has one'],
  [/options of OPT/u, 'truncated options, or a cookie of a wrong size (RFC 7873 section 5.3): malformed'],
  [/version or rcode of OPT|OPT \+ a TTL/u, 'the extended rcode is an error'],
  [/OPT \+ an odd label/u, 'an OPT belongs to the root (RFC 6891 section 6.1.2)'],
  [/a referral/u, 'a referral is not an answer (RFC 2308 section 2.2)'],
  [/a broken SOA/u, 'without a valid SOA a negative answer has no proof'],
  [/a pointer as owner/u, 'a pointer into the header or forward points to no name (RFC 1035 section 4.1.4)'],
  [/a pointer in data/u, 'a pointer without a name at its target is not an alias'],
  [/another type/u, 'a type for questions only is never that of data (RFC 6895 section 3.1)'],
  [
    /too short or too long|length of a record/u,
    'data of a known type are relayed only if they are well-formed',
  ],
  [/a DNAME/u, 'a server that sends a DNAME must also send its alias (RFC 6672 section 3.1)'],
  [/another class/u, 'records of another class are dropped'],
  [/a count|an end too early/u, 'records are missing'],
  [/a few bytes/u, 'the data are malformed (RFC 9460 section 2.2 for HTTPS)'],
];

/** Result of an answer at Weir that differs from the result at Unbound and BIND. */
type Difference = 'answered' | 'refused';

const { values } = parseArgs({
  options: {
    answers: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    index: { type: 'string' },
  },
});
const seed = Number(values.seed);

/** The name for an answer; each turn uses a different name, so that no cache has it. */
function nameOf(index: number, turn: number): string {
  return `n${String(index)}-${String(turn)}.${ZONE}`;
}

function indexOf(query: Uint8Array): number | null {
  const label = Buffer.from(query.subarray(13, 13 + (query[12] ?? 0))).toString('latin1');
  const found = /^n(\d+)-\d+$/iu.exec(label)?.[1];
  return found === undefined ? null : Number(found);
}

function reply(upstream: ScriptedUpstream, query: ReceivedQuery): void {
  const index = indexOf(query.bytes);
  if (index === null) {
    query.reply(goodAnswer(query.bytes));
    return;
  }
  const answer = mutatedAnswer(seed, index, query.bytes);
  // Over TCP, a truncated answer is the same, but without the flag TC.
  if (query.connection !== null && answer.length > 2) answer[2]! &= ~0x02;
  query.reply(answer);
  setTimeout(() => {
    if (!upstream.isClosed && query.connection?.destroyed !== true) query.reply(failure(query.bytes));
  }, FAILURE_AFTER_MS);
}

async function outcomeOf(client: RawClient, index: number, turn: number): Promise<Outcome> {
  const head = await client.ask(nameOf(index, turn), typeOf(seed, index));
  if (head?.rcode === 3 || (head?.rcode === 0 && head.answers > 0)) return 'answer';
  return head?.rcode === 0 ? 'no data' : 'refused';
}

function outcomesOf(clients: readonly RawClient[], index: number, turn: number): Promise<Outcome[]> {
  return Promise.all(clients.map((client) => outcomeOf(client, index, turn)));
}

function differenceOf(own: Outcome, theirs: readonly Outcome[]): Difference | null {
  if (own === 'answer' && theirs.every((outcome) => outcome === 'refused')) return 'answered';
  if (own === 'refused' && theirs.every((outcome) => outcome !== 'refused')) return 'refused';
  return own === 'no data' && theirs.every((outcome) => outcome === 'answer') ? 'refused' : null;
}

/**
 * Under load, the other servers also fail valid answers, so only findings that are reproduced without load count.
 * Returns them by kind.
 */
async function confirmed(
  clients: readonly RawClient[],
  difference: Difference,
  suspects: readonly number[],
): Promise<Map<string, number[]>> {
  const findings = new Map<string, number[]>();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < suspects.length) {
      const index = suspects[next++]!;
      let isSame = true;
      for (let turn = 1; turn <= CALM_TURNS && isSame; turn++) {
        const [own = 'refused', ...theirs] = await outcomesOf(clients, index, turn);
        isSame = differenceOf(own, theirs) === difference;
      }
      if (isSame) findings.set(kindsOf(seed, index), [...(findings.get(kindsOf(seed, index)) ?? []), index]);
    }
  };
  await Promise.all(Array.from({ length: CALM_IN_FLIGHT }, work));
  return findings;
}

async function compare(count: number): Promise<number> {
  await using upstream = await ScriptedUpstream.start();
  upstream.udpScript = (query) => {
    upstream.udpQueries.length = 0;
    reply(upstream, query);
  };
  upstream.tcpScript = (query) => {
    upstream.tcpQueries.length = 0;
    reply(upstream, query);
  };
  await using weir = await Weir.start({
    upstreams: [`udp://127.0.0.1:${String(upstream.port)}`],
    toml: '[dns.health_check]\nenabled = false\n',
    database: 'none',
  });
  const others = [await startUnbound(upstream.port), await startBind(upstream.port)];
  const clients = await Promise.all(
    [weir.dnsPort, ...others.map(({ port }) => port)].map((port) => RawClient.open(port)),
  );
  const table = new Map<string, number>();
  const suspects: Record<Difference, number[]> = { answered: [], refused: [] };
  let next = 0;
  let done = 0;
  const startedMs = performance.now();
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      const [own = 'refused', ...theirs] = await outcomesOf(clients, index, 0);
      const row = `${own} | ${theirs.join(' | ')}`;
      table.set(row, (table.get(row) ?? 0) + 1);
      const difference = differenceOf(own, theirs);
      if (difference !== null) suspects[difference].push(index);
      if (++done % REPORT_EVERY === 0)
        print(`${String(done)} answers, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  const answered = await confirmed(clients, 'answered', suspects.answered);
  const refused = await confirmed(clients, 'refused', suspects.refused);
  const threads = weir.replacedThreads;
  for (const client of clients) client.close();
  await Promise.all(others.map((other) => other.close()));
  print('\nweir | unbound | bind');
  for (const [row, rows] of [...table].sort(([, a], [, b]) => b - a))
    print(`${String(rows).padStart(8)}  ${row}`);
  if (threads > 0) print(`${String(threads)} threads of Weir were replaced:\n${weir.output}`);
  print('\nWeir accepts answers that both others reject:');
  const unexplained = reportUnexplained(answered, EXPLAINED);
  print('\nWeir rejects answers that both others accept:');
  return unexplained + reportUnexplained(refused, EXPLAINED_REFUSALS) + threads;
}

/** Prints the findings; returns the number of findings without a reason. */
function reportUnexplained(
  findings: ReadonlyMap<string, readonly number[]>,
  explained: typeof EXPLAINED,
): number {
  let unexplained = 0;
  if (findings.size === 0) print('  nothing');
  for (const [kinds, indexes] of [...findings].sort(([, a], [, b]) => b.length - a.length)) {
    const reason = explained.find(([kind]) => kind.test(kinds))?.[1];
    if (reason === undefined) unexplained += indexes.length;
    print(
      `${String(indexes.length).padStart(8)}  ${kinds}: ${reason ?? `UNEXPLAINED, such as ${indexes.slice(0, SHOWN).join(', ')}`}`,
    );
  }
  return unexplained;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (values.index !== undefined) {
  const index = Number(values.index);
  const query = Buffer.concat([
    Buffer.from('000001000001000000000000', 'hex'),
    ...nameOf(index, 0)
      .split('.')
      .map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)])),
    Buffer.of(0, 0, 1, 0, 1),
  ]);
  print(
    `${typeOf(seed, index)}: ${kindsOf(seed, index)}\n${Buffer.from(mutatedAnswer(seed, index, query)).toString('hex')}`,
  );
} else process.exitCode = (await compare(Number(values.answers))) === 0 ? 0 : 1;
