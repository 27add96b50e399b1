/**
 * A simulation compared with real pipelines: random policies, drafts and logged queries. The simulated changes must
 * equal the differences between two pipelines that answer these queries, one with the policy, the other with the draft
 * applied.
 */
import { describe, expect, test } from '@jest/globals';
import { BlockReader } from '../../control-plane/query-log/block/block-reader.ts';
import { DistinctQuestions } from '../../control-plane/query-log/logged-questions/distinct-questions.ts';
import type { QueryLogRow } from '../../control-plane/query-log/rows/row.ts';
import { QuestionList } from '../../dns-worker/simulate/question-list.ts';
import { Simulation } from '../../dns-worker/simulate/simulation.ts';
import { addressFromText, addressToText } from '../../shared/net/ip.ts';
import { isBlockedStatus, QueryStatus, type QueryStatusName } from '../../shared/query-log.ts';
import { NO_NAME_RULES } from '../../shared/snapshot/name-rules.ts';
import type { SimulatedChanges, LoggedQuestions } from '../../shared/threads/simulation-messages.ts';
import { a, cname, type TestRecord } from '../support/dns/built-messages.ts';
import { blockOf, HOUR_MS } from '../support/parts/blocks-of-rows.ts';
import { logRow, wireName } from '../support/parts/log-row.ts';
import { PolicyPipeline } from '../support/parts/policy-pipeline.ts';
import type { ListText, OtherRows } from '../support/parts/test-lists.ts';

const NAMES = [
  'www.a.test',
  'a.test',
  'ads.a.test',
  'x.ads.b.test',
  'b.test',
  'cdn.c.test',
  'track.c.test',
  'd-1.test',
].map((name) => name.replace('.test', '.example'));
const CLIENTS = ['192.0.2.1', '192.0.2.9', '198.51.100.7', '2001:db8::5'];
const TYPES = [1, 28, 65];
const ADDRESSES = ['198.51.100.1', '203.0.113.9', '192.168.1.1'];
const LIMITS = { questions: 1e6, bytes: 1e8 };

/** A random number generator that is repeatable for a seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    state ^= state >>> 12;
    return (state >>> 0) % below;
  };
}
type Random = ReturnType<typeof randomFrom>;

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;
const some = <T>(random: Random, max: number, make: () => T): T[] =>
  Array.from({ length: random(max + 1) }, make);

function line(random: Random): string {
  const name = pick(random, NAMES);
  const part = name.slice(name.indexOf('.') + 1);
  return pick(random, [
    name,
    `||${part}^`,
    `@@||${name}^`,
    `||${part}^$important`,
    `||${name}^$client=${pick(random, CLIENTS)}`,
    `||${name}^$dnstype=AAAA`,
    `/^(ads|track)[.]/`,
    `||${name}^$dnsrewrite=${pick(random, NAMES)}`,
    `||${pick(random, ADDRESSES)}^`,
  ]);
}

function listsOf(random: Random): ListText[] {
  return some(random, 3, () => ({
    text: `${some(random, 4, () => line(random)).join('\n')}\n`,
    reading: { kind: pick(random, ['block', 'block', 'allow'] as const), subdomains: random(2) === 0 },
    groupIds: pick(random, [[], [1], [2]]),
  }));
}

function rowsOf(random: Random): OtherRows {
  const groupId = (): number | null => pick(random, [null, 1, 2]);
  const action = (): 'allow' | 'deny' => pick(random, ['allow', 'deny']);
  return {
    groups: [1, 2].map((id) => ({ id, enabled: true })),
    managedDomains: some(random, 2, () => {
      return {
        ...{ id: random(1000) + 1, name: 'm', domain: pick(random, NAMES), suffix: random(2) === 0 },
        ...{ action: action(), groupId: groupId() },
      };
    }),
    regexFilters: some(random, 1, () => {
      const pattern = pick(random, ['^ads[.]', 'c[.]example$', '^d-[0-9]']);
      return { id: random(1000) + 1, name: 'r', pattern, action: action(), groupId: groupId() };
    }),
    blockedServices: some(random, 1, () => {
      const domains = [pick(random, NAMES)];
      return { serviceId: 's', serviceName: 'S', groupId: 1 + random(2), domains, exact: [] };
    }),
    clients: some(random, 1, () => ({ address: pick(random, CLIENTS), groupId: 2 })),
    subnets: some(random, 1, () => ({ cidr: '192.0.2.0/24', groupId: 2 })),
  };
}

/** A question and its answer from upstreams. */
interface Known {
  readonly name: string;
  readonly qtype: number;
  readonly answers: TestRecord[];
}

function knownOf(random: Random): Known[] {
  return NAMES.flatMap((name) =>
    TYPES.map((qtype) => {
      const target = pick(random, NAMES);
      const isAlias = random(3) === 0 && target !== name;
      const owner = isAlias ? target : name;
      const answers = [
        ...(isAlias ? [cname(name, target)] : []),
        ...(qtype === 1 ? [a(owner, pick(random, ADDRESSES), 60 + random(9))] : []),
      ];
      return { name, qtype, answers };
    }),
  );
}

/** `open` blocks nothing and determines the logged outcome; `before` has the policy, `after` has the draft applied. */
const [open, before, after] = [new PolicyPipeline(), new PolicyPipeline(), new PolicyPipeline()];

interface ClientQuery extends Known {
  readonly client: string;
}

function logged(
  { name, qtype, client }: ClientQuery,
  status: QueryStatusName,
  answers: Uint8Array | null,
): QueryLogRow {
  return logRow({
    timestampMs: HOUR_MS + 5000,
    client: addressFromText(client)!,
    qname: wireName(name),
    status: QueryStatus[status],
    answers,
    ...{ qtype },
  });
}

/** Each question as two rows: one as it was answered, and one as it was blocked at another time. */
function rowsOfQuestion(asked: ClientQuery): QueryLogRow[] {
  const { query } = open.ask(asked.name, asked.qtype, asked.client);
  const answers = query.bytes.slice(query.answersAt, query.answersAt + query.answersLength);
  if (query.answersCount === 0)
    return [logged(asked, 'ALLOWED', null), logged(asked, 'BLOCKED_SERVICE', null)];
  return [logged(asked, 'CACHED', answers), logged(asked, 'BLOCKED_LIST', null)];
}

async function simulate(
  rows: readonly QueryLogRow[],
): Promise<{ changes: SimulatedChanges; questions: LoggedQuestions }> {
  const [now, then] = [before.pipeline.snapshot, after.pipeline.snapshot];
  const gathered = new DistinctQuestions(now.checksAddresses || then.checksAddresses, LIMITS);
  gathered.add(new BlockReader(await blockOf(rows)), null);
  const questions = gathered.shared();
  return { changes: new Simulation(new QuestionList(questions), now, then).run(1000), questions };
}

/** Number of newly blocked and newly allowed queries, by name and by client. */
type Sums = Record<string, [blocked: number, allowed: number]>;

function reported({ changes, questions }: Awaited<ReturnType<typeof simulate>>): Sums {
  const { bytes, starts } = questions.names;
  const at = new Uint32Array(starts);
  const name = (number: number): string => Buffer.from(bytes).toString('latin1', at[number], at[number + 1]);
  const client = (number: number): string =>
    addressToText(new Uint8Array(questions.clients).slice(number * 16, number * 16 + 16));
  return Object.fromEntries([
    ...changes.names.map((one) => [name(one.name), [one.newlyBlocked, one.newlyAllowed]]),
    ...changes.clients.map((one) => [client(one.client), [one.newlyBlocked, one.newlyAllowed]]),
  ]) as Sums;
}

/** The changes as the decisions of the two pipelines show them. */
function found(asked: readonly ClientQuery[]): Sums {
  const sums: Sums = {};
  const isBlocked = (pipeline: PolicyPipeline, { name, qtype, client }: ClientQuery): boolean =>
    isBlockedStatus(pipeline.ask(name, qtype, client).query.status);
  for (const one of asked) {
    const [was, is] = [isBlocked(before, one), isBlocked(after, one)];
    if (was === is) continue;
    for (const key of [one.name, one.client]) (sums[key] ??= [0, 0])[is ? 0 : 1] += 2;
  }
  return sums;
}

function applyRandom(random: Random): ClientQuery[] {
  const known = knownOf(random);
  const rebinding = { isOn: random(2) === 0, exempt: [] };
  for (const pipeline of [open, before, after])
    for (const { name, qtype, answers } of known) pipeline.cache(name, qtype, answers);
  const names = { ...NO_NAME_RULES, rebinding };
  open.use([]);
  before.use(listsOf(random), rowsOf(random), { names });
  after.use(listsOf(random), rowsOf(random), { names });
  return known.flatMap((one) => CLIENTS.filter(() => random(2) === 0).map((client) => ({ ...one, client })));
}

describe('Simulation.run()', () => {
  test('returns the same differences as a comparison of two pipelines, for random policies, drafts and queries', async () => {
    let changed = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const asked = applyRandom(randomFrom(seed));
      const simulated = reported(await simulate(asked.flatMap(rowsOfQuestion)));
      const real = found(asked);
      expect({ seed, ...simulated }).toEqual({ seed, ...real });
      changed += Object.keys(real).length;
    }
    expect(changed).toBeGreaterThan(150);
  });
});
