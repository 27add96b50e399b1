import { beforeEach, describe, expect, test } from '@jest/globals';
import { parseQuery } from '../query/parse-query.ts';
import { Query } from '../query/query.ts';
import { MissRecord } from '../../shared/memory/miss-ring.ts';
import type { UdpBatch } from '../listeners/udp-batch.ts';
import { type QueryOptions, query as messageOf, type TypeSpec } from '../../test/support/dns/dns-message.ts';
import { OpenTries, TRY_CAPACITY } from './open-tries.ts';

const CD = 0x0110;
/** Replaces the origin of datagrams, which these tests do not use. */
const nowhere = { socketIndex: 0, copyOrigin: () => undefined } as unknown as UdpBatch;

let tries: OpenTries;
beforeEach(() => {
  tries = new OpenTries();
});

function queryOf(name: string, type: TypeSpec = 'A', options: QueryOptions = {}): Query {
  const message = messageOf(name, type, options);
  const bytes = new Uint8Array(600);
  bytes.set(message);
  const query = new Query();
  query.begin(bytes, 0, message.length, 600);
  parseQuery(query, 1, 2);
  return query;
}

function open(query: Query, network = 1): number {
  return tries.open(query, nowhere, 0, 1, network);
}

/** Adds one more waiting request. */
function join(question: number, query: Query, network = 1): number {
  const request = tries.take(query, nowhere, 0, 1, network);
  tries.join(question, request);
  return request;
}

/** The requests of a question, in order. */
function requestsOf(question: number): number[] {
  const requests: number[] = [];
  for (let request = question; request >= 0; request = tries.after(request)) requests.push(request);
  return requests;
}

const DO = { edns: { dnssecOk: true } };

describe('OpenTries.find(), the lookup of an open upstream query,', () => {
  test('finds a query in flight, whatever the letter case of its name and the message ID', () => {
    const question = open(queryOf('www.Example', 'A', { id: 1 }));
    expect(tries.find(queryOf('WWW.example', 'A', { id: 2 }))).toBe(question);
  });

  test.each<[string, Query]>([
    ['another name', queryOf('www.example2')],
    ['a name of the same length', queryOf('wwx.example')],
    ['another type', queryOf('www.example', 'AAAA')],
    ['another class', queryOf('www.example', 'A', { qclass: 3 })],
    ['DO', queryOf('www.example', 'A', DO)],
    ['CD', queryOf('www.example', 'A', { flags: CD })],
  ])('does not find a query that differs in %s', (_what, other) => {
    open(queryOf('www.example'));
    expect(tries.find(other)).toBe(-1);
  });

  test('finds the query in flight with the same DO and CD bits', () => {
    const withDo = open(queryOf('www.example', 'A', DO));
    const withCd = open(queryOf('www.example', 'A', { flags: CD }));
    expect(tries.find(queryOf('www.example', 'A', DO))).toBe(withDo);
    expect(tries.find(queryOf('www.example', 'A', { flags: CD }))).toBe(withCd);
  });

  test('finds the remaining queries of a bucket after one query is closed, at any position', () => {
    // A question with CD has the same hash as without CD.
    const names = ['a.example', 'b.example'];
    const plain = names.map((name) => open(queryOf(name)));
    const withCd = names.map((name) => open(queryOf(name, 'A', { flags: CD })));
    tries.close(plain[0]!);
    tries.close(withCd[1]!);
    expect(tries.find(queryOf('a.example'))).toBe(-1);
    expect(tries.find(queryOf('a.example', 'A', { flags: CD }))).toBe(withCd[0]);
    expect(tries.find(queryOf('b.example'))).toBe(plain[1]);
    expect(tries.find(queryOf('b.example', 'A', { flags: CD }))).toBe(-1);
  });
});

describe('OpenTries.close(), which removes an open upstream query,', () => {
  test('removes a query from any position in the buckets of a full table', () => {
    const queries = Array.from({ length: TRY_CAPACITY }, (_, i) => queryOf(`n${String(i)}.example`));
    const questions = queries.map((query) => open(query));
    expect(new Set(questions).size).toBe(TRY_CAPACITY);
    questions.forEach((question, i) => {
      if (i % 3 === 1) tries.close(question);
    });
    queries.forEach((query, i) => expect(tries.find(query)).toBe(i % 3 === 1 ? -1 : questions[i]));
  });

  test('frees all client requests of a query, and the shares of their networks', () => {
    const question = open(queryOf('www.example'), 1);
    join(question, queryOf('www.example'), 2);
    join(question, queryOf('www.example'), 2);
    expect(tries.size).toBe(3);
    tries.close(question);
    expect(tries.size).toBe(0);
    let held = 0;
    while (tries.admits(2)) open(queryOf(`n${String(held++)}.example`), 2);
    expect(held).toBe(TRY_CAPACITY / 2);
  });
});

describe('OpenTries.join(), which adds a client request to an open query,', () => {
  test('queues client requests in the order of their arrival, each with its network and message', () => {
    const question = open(queryOf('www.example', 'A', { id: 0x0101 }), 5);
    const others = [0x0202, 0x0303].map((id, i) =>
      join(question, queryOf('www.example', 'A', { id }), 6 + i),
    );
    const requests = requestsOf(question);
    expect(requests).toEqual([question, ...others]);
    expect(requests.map((request) => tries.networkOf(request))).toEqual([5, 6, 7]);
    const ids = requests.map(
      (request) => tries.records.bytes[request * MissRecord.SIZE + MissRecord.MESSAGE],
    );
    expect(ids).toEqual([1, 2, 3]);
  });

  test('accepts 256 client requests per query, and again 256 after the query is closed', () => {
    const query = queryOf('www.example');
    const question = open(query);
    for (let waiting = 1; tries.mayJoin(question); waiting++) {
      expect(waiting).toBeLessThan(256);
      join(question, query);
    }
    expect(requestsOf(question)).toHaveLength(256);
    tries.close(question);
    const next = open(query);
    expect([tries.mayJoin(next), requestsOf(next)]).toEqual([true, [next]]);
  });
});

describe('OpenTries.admits(), the limit per client network,', () => {
  test('lets one network use half of the capacity, and other networks half of what remains', () => {
    const fill = (network: number): number => {
      let held = 0;
      while (tries.admits(network)) open(queryOf(`n${String(network)}-${String(held++)}.example`), network);
      return held;
    };
    expect([fill(1), fill(2), fill(3)]).toEqual([2048, 1024, 512]);
    expect(tries.admits(1)).toBe(false);
  });
});
