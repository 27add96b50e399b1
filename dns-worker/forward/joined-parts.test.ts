import { describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { Rcode, RRType } from '../../shared/dns/iana.ts';
import { QueryStatus } from '../../shared/query-log.ts';
import { a, cname, octets, question, response, soa, u16 } from '../../test/support/dns/built-messages.ts';
import type { TestResponse } from '../../test/support/dns/built-messages.ts';
import { ParseOutcome, parseQuery } from '../query/parse-query.ts';
import { Query } from '../query/query.ts';
import { appendCname, followAlias, QNAME_OFFSET } from '../respond/alias.ts';
import { aliasOf, questionForTarget } from './alias-follower.ts';
import { type Alias, joinAnswers, type TargetAnswer } from './joined-parts.ts';

const QNAME = question('www.Search.example', 'A').qname;
const TARGET = question('Safe.search.example', 'A');

/** A query for which a stage has set an alias. */
function aliased(...chain: string[]): Query {
  const bytes = new Uint8Array(2048);
  const asked = octets([1, 2], u16(0x0100), u16(1), u16(0), u16(0), u16(0), QNAME, u16(RRType.A), u16(1));
  bytes.set(asked);
  const query = new Query();
  query.begin(bytes, 0, asked.length, bytes.length);
  expect(parseQuery(query, 1, 2)).toBe(ParseOutcome.OK);
  let owner: number = QNAME_OFFSET;
  for (const name of chain) owner = appendCname(query, owner, question(name, 'A').qname, 0, 60);
  followAlias(query, question(chain.at(-1)!, 'A').qname, 0, QueryStatus.SAFE_SEARCH);
  return query;
}

function came(parts: TestResponse, rcode: number = Rcode.NOERROR): TargetAnswer {
  const message = response(TARGET, { ...parts, flags: 0x8180 | rcode });
  return {
    message,
    rcode,
    status: QueryStatus.ALLOWED,
    cached: 0,
    upstream: 1,
    extendedError: -1,
    ecsScope: 0,
    dnssec: 0,
  };
}

function joined(alias: Alias, target: TargetAnswer): string[] {
  const answer = joinAnswers(QNAME, alias, target);
  if (answer === null) throw new Error('join answers: null');
  const counts = [1, answer.answerCount, answer.authorityCount, 0].flatMap(u16);
  const head = octets([0, 0], u16(0x8180 | answer.rcode), counts, QNAME, u16(RRType.A), u16(1));
  const { answers = [], authorities = [] } = decodeMessage(octets(head, answer.body))!;
  return [...answers, ...authorities].map((record) =>
    [record.name, record.type, 'data' in record && typeof record.data === 'string' ? record.data : ''].join(
      ' ',
    ),
  );
}

describe("joinAnswers(), which joins an alias with its target's answer,", () => {
  test('puts the alias before the answer of its target, with every compression pointer adjusted', () => {
    const alias = aliasOf(aliased('safe.search.example'));
    const answers = [cname('safe.search.example', 'edge.example.net'), a('edge.example.net', '192.0.2.7')];
    expect(joined(alias, came({ answers }))).toEqual([
      'www.search.example CNAME safe.search.example',
      'safe.search.example CNAME edge.example.net',
      'edge.example.net A 192.0.2.7',
    ]);
  });

  test('keeps owner names that are compressed as pointers to the question of the target', () => {
    const alias = aliasOf(aliased('inner.search.example', 'safe.search.example'));
    const toQuestion = Uint8Array.from([0xc0, 12]);
    expect(joined(alias, came({ answers: [{ ...a('x.example', '192.0.2.8'), owner: toQuestion }] }))).toEqual(
      [
        'www.search.example CNAME inner.search.example',
        'inner.search.example CNAME safe.search.example',
        'safe.search.example A 192.0.2.8',
      ],
    );
  });

  test('takes the RCODE and the SOA of a target that does not exist', () => {
    const alias = aliasOf(aliased('safe.search.example'));
    const gone = came({ authorities: [soa('search.example', 60, 60)] }, Rcode.NXDOMAIN);
    expect(joinAnswers(QNAME, alias, gone)?.rcode).toBe(Rcode.NXDOMAIN);
    expect(joined(alias, gone)).toEqual([
      'www.search.example CNAME safe.search.example',
      'search.example SOA ',
    ]);
  });

  test('returns null for a target that failed, or whose answer is malformed', () => {
    const alias = aliasOf(aliased('safe.search.example'));
    expect(joinAnswers(QNAME, alias, came({}, Rcode.SERVFAIL))).toBeNull();
    const cut = came({ answers: [a('safe.search.example', '192.0.2.7')] });
    expect(joinAnswers(QNAME, alias, { ...cut, message: cut.message.subarray(0, -1) })).toBeNull();
  });
});

describe('questionForTarget(), the query for an alias target,', () => {
  test('contains the target with the type and flags that the client sent for the alias', () => {
    const query = aliased('safe.search.example');
    const message = decodeMessage(questionForTarget(aliasOf(query), query))!;
    expect(message.questions).toEqual([{ name: 'safe.search.example', type: 'A', class: 'IN' }]);
    expect([message.type, message.flag_rd]).toEqual(['query', true]);
  });
});
