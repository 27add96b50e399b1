/**
 * Rules in AdGuard's syntax, compared with the answers of a live AdGuard Home to the same questions (master of August
 * 2026, urlfilter 0.23.4; its faults according to its own documentation). Each pair of answers is equal, or listed
 * below with the reason. The upstream answers every name: `cn-x_example.…` is an alias of `x.example`, and
 * `ip-192-0-2-1.…` has the address 192.0.2.1.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readRewriteValue } from '../../control-plane/policy/compile/modifiers/rewrite-value.ts';
import { StageResult } from '../../dns-worker/query/query.ts';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { RRType } from '../../shared/dns/iana.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { QuestionFlag } from '../../shared/snapshot/policy-table.ts';
import { cname, type TestRecord, wireName } from '../support/dns/built-messages.ts';
import { PolicyPipeline } from '../support/parts/policy-pipeline.ts';

/** A filter list, and AdGuard Home's answer by question (`name [TYPE] [@client]`). */
interface RuleSet {
  readonly rules: readonly string[];
  readonly answers: Readonly<Record<string, string>>;
}

/** Weir's answers that differ from AdGuard Home's, by question. */
type Differences = Readonly<Record<string, string>>;

const SETS = JSON.parse(
  readFileSync(new URL('adguard-answers.json', import.meta.url), 'utf8'),
) as readonly RuleSet[];

const BLOCKED = 'NOERROR A 0.0.0.0';
const PASSED = 'NOERROR A 192.0.2.1';

const EXPLAINED: readonly (readonly [reason: string, differences: Differences])[] = [
  [
    '**.x covers x, as intended in published wildcard lists',
    { 'b11.example': BLOCKED, linkk: BLOCKED, 'h24.example': BLOCKED, 'a.h24.example': BLOCKED },
  ],
  ['a bar before a scheme adds nothing', { 'b23.example': BLOCKED, 'b24.example': BLOCKED }],
  [
    'plain and hosts lines match in any case, and with a trailing dot or a comment',
    {
      'p2.example': BLOCKED,
      'p7.example': BLOCKED,
      'p8.example': BLOCKED,
      'p21.example': BLOCKED,
      'p24.example': BLOCKED,
      'd1.example': BLOCKED,
      'd2.example': BLOCKED,
      'd3.example': BLOCKED,
      'd4.example': PASSED,
    },
  ],
  ['0 is a null address in hosts files', { 'h26.example': BLOCKED }],
  ['a single word is not a domain name', { p14zip: PASSED, localbox: PASSED, clickk: PASSED }],
  ['AdGuard Home never matches an expression with \\x', { 'r28.example': BLOCKED }],
  [
    'a hosts line with a real address is not a rule',
    {
      'h20.example': PASSED,
      'h20.example AAAA': 'NOERROR AAAA 2001:db8::1',
      'h20.example MX': 'NOERROR MX 10 mail.up.example.',
    },
  ],
  ['$badfilter matches the rule in any case', { 'f7.example': PASSED }],
  ['AdGuard Home treats a code in lower case as a host', { 'w8.example': 'REFUSED' }],
  ['ech= is documented, but rejected there', { 'u5.example HTTPS': 'NOERROR HTTPS 1 . 0005000568656c6c6f' }],
  ['an alias outranks a code, regardless of their order', { 'y7.example': `${PASSED}; CNAME y7t.example.` }],
  [
    'a name may end with a dot and be internationalised',
    {
      'k6.example': `${PASSED}; CNAME k6t.example.`,
      'k7.example': `${PASSED}; CNAME xn--bcher-kva.example.`,
      'k8.example': `${PASSED}; CNAME k8t.example.`,
    },
  ],
  ['names of clients match in any case, as host names do', { 'm13.example @127.0.0.11': BLOCKED }],
  [
    'clients have no tags: a rule with $ctag is skipped',
    {
      'n1.example @127.0.0.11': PASSED,
      'n2.example @127.0.0.12': PASSED,
      'n2.example @127.0.0.99': PASSED,
      'n3.example @127.0.0.12': PASSED,
      'n3.example @127.0.0.13': PASSED,
      'n4.example @127.0.0.13': PASSED,
      'n6.example @127.0.0.13': BLOCKED,
      'n7.example @127.0.0.13': PASSED,
      'n8.example @127.0.0.13': PASSED,
    },
  ],
  ['a modifier for browsers is unknown: the rule is skipped, never broadened', { 'o35.example': PASSED }],
  [
    'reserved names are answered by Weir itself',
    { 'mask.icloud.com': 'NXDOMAIN', 'x.home.arpa': 'NXDOMAIN' },
  ],
];

/** Expected differences, because a list rule without a condition must not match every name. */
const WITHOUT_WIDE_RULES: Differences = {
  'ok.example': PASSED,
  'ab.example': PASSED,
  'xyz.example': PASSED,
  b: PASSED,
};

const CLIENTS = new Map([
  ['mom', '127.0.0.11'],
  ['dad', '127.0.0.12'],
  ['kids', '127.0.0.13'],
  ["frank's laptop", '127.0.0.14'],
  ["mary's, john's, and boris's laptops", '127.0.0.15'],
  ['a|b', '127.0.0.16'],
  ['iphone kid', '127.0.0.17'],
]);
const FLAGS = QuestionFlag.SPECIAL_NAMES | QuestionFlag.DOH_CANARY | QuestionFlag.PRIVATE_RELAY_CANARY;

/** Data of the upstream for a name, in the form of `$dnsrewrite`. */
function dataOf(name: string, type: string): string {
  const address = /^ip-(\d+)-(\d+)-(\d+)-(\d+)\./.exec(name)?.slice(1).join('.') ?? '192.0.2.1';
  const data: Record<string, string> = {
    A: address,
    AAAA: '2001:db8::1',
    MX: '10 mail.up.example',
    SRV: '1 2 3 srv.up.example',
    TXT: 'up',
    HTTPS: `1 . alpn=h2 ipv4hint=${address}`,
    SVCB: `1 . alpn=h2 ipv4hint=${address}`,
  };
  return data[type]!;
}

function upstreamRecords(name: string, type: string): TestRecord[] {
  const target = /^cn-([a-z0-9]+)_example\./.exec(name)?.[1];
  const owner = target === undefined ? name : `${target}.example`;
  const read = readRewriteValue(`NOERROR;${type};${dataOf(name, type)}`);
  if (typeof read === 'string') throw new Error(`${name} ${type}: ${read}`);
  const { record } = read;
  const answer = {
    owner: wireName(owner),
    type: record!.type,
    ttl: 300,
    rdata: Buffer.from(record!.rdata, 'hex'),
  };
  return target === undefined ? [answer] : [cname(name, owner), answer];
}

/** Compared parts of a reply. */
interface DecodedAnswer {
  readonly rcode: string;
  readonly answers?: readonly { readonly type: string; readonly data: unknown }[];
}

/** A record in the format of the file. */
function shown({ type, data }: { type: string; data: unknown }): string {
  if (type === 'UNKNOWN_65' && data instanceof Uint8Array) {
    const bytes = Buffer.from(data);
    let end = 2;
    while (bytes[end] !== 0) end += bytes[end]! + 1;
    const target = nameToText(bytes.subarray(2, end + 1));
    const params = bytes.subarray(end + 1).toString('hex');
    return `HTTPS ${bytes.readUInt16BE(0)} ${target === '.' ? '.' : `${target}.`} ${params}`.trimEnd();
  }
  if (Array.isArray(data)) return `${type} ${Buffer.concat(data as Buffer[]).toString()}`;
  const fields = typeof data === 'object' && data !== null ? Object.values(data) : [data];
  const isName = ['CNAME', 'MX', 'SRV'].includes(type);
  const text = fields.join(' ');
  return `${type} ${text}${isName && !text.endsWith('.') ? '.' : ''}`;
}

/** Weir's answers to the questions of a set. */
function answersOf({ rules, answers }: RuleSet): Record<string, string> {
  const weir = new PolicyPipeline();
  // Bare anchors are regular expressions, which have separate tests.
  const lines = rules.filter((rule) => rule !== '^');
  weir.use(
    [{ text: `${lines.join('\n')}\n`, reading: { kind: 'block', subdomains: false } }],
    {},
    {
      questionFlags: FLAGS,
      findClients: (names) => names.map((name) => ({ name, addresses: [CLIENTS.get(name) ?? []].flat() })),
    },
  );
  return Object.fromEntries(Object.keys(answers).map((question) => [question, answerTo(weir, question)]));
}

function answerTo(weir: PolicyPipeline, question: string): string {
  const [name = '', ...words] = question.split(' ');
  const client = words.find((word) => word.startsWith('@'))?.slice(1) ?? '127.0.0.1';
  const type = words.find((word) => !word.startsWith('@')) ?? 'A';
  const qtype = RRType[type as keyof typeof RRType];
  weir.cache(name.toLowerCase(), qtype, upstreamRecords(name, type));
  const { query, result } = weir.ask(name, qtype, client);
  if (result === StageResult.UNRESOLVED) {
    const target = nameToText(query.alias.slice(0, query.aliasLength));
    return written('NOERROR', [`CNAME ${target}.`, ...answersFromUpstream(target, type)]);
  }
  return writtenReply(query.bytes.slice(0, query.replyLength));
}

function answersFromUpstream(target: string, type: string): string[] {
  const other = new PolicyPipeline();
  const qtype = RRType[type as keyof typeof RRType];
  other.cache(target, qtype, upstreamRecords(target, type));
  const { query } = other.ask(target, qtype);
  const reply = writtenReply(query.bytes.slice(0, query.replyLength));
  return reply.includes(' ') ? [reply.replace(/^NOERROR /, '')] : [];
}

function writtenReply(message: Uint8Array): string {
  const { rcode, answers } = decodeMessage(message) as unknown as DecodedAnswer;
  return written(rcode, (answers ?? []).map(shown));
}

function written(rcode: string, records: readonly string[]): string {
  return `${rcode} ${records.toSorted().join('; ')}`.trimEnd();
}

describe('AdGuard Home filter rules', () => {
  const explained = new Map(EXPLAINED.flatMap(([, differences]) => Object.entries(differences)));

  test.each(SETS.map((set) => [set.rules.join(' '), set] as const))(
    'give the same answers as in AdGuard Home: %s',
    (_, set) => {
      const wide = set.rules.includes('||*^') ? WITHOUT_WIDE_RULES : {};
      const expected = Object.entries(set.answers).map(([question, answer]) => [
        question,
        wide[question] ?? explained.get(question) ?? answer,
      ]);
      expect(answersOf(set)).toEqual(Object.fromEntries(expected));
    },
  );

  test('with equal answers are absent from the table of differences', () => {
    const theirs = new Map(SETS.flatMap(({ answers }) => Object.entries(answers)));
    for (const [question, answer] of explained)
      expect([question, theirs.get(question)]).not.toEqual([question, answer]);
  });
});
