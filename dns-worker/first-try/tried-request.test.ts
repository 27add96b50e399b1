import { beforeEach, describe, expect, test } from '@jest/globals';
import { COOKIE_SIZE } from '../../shared/dns/wire.ts';
import { nameFromText } from '../../shared/dns/name.ts';
import { RRClass, RRType } from '../../shared/dns/iana.ts';
import { LimitReason } from '../../shared/memory/answer-counters.ts';
import { MissRecord, NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import { addressFromText, addressToText } from '../../shared/net/ip.ts';
import { type QueryOptions, query as messageOf, type TypeSpec } from '../../test/support/dns/dns-message.ts';
import type { UdpBatch } from '../listeners/udp-batch.ts';
import type { UdpOrigin, UdpReply } from '../listeners/udp-reply.ts';
import { MissRecords } from '../misses/miss-records.ts';
import { parseQuery } from '../query/parse-query.ts';
import { Query } from '../query/query.ts';
import { TriedQuestion, TriedRequest } from './tried-request.ts';

const CD = 0x0110;
const LONG = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;

/** A batch of datagrams whose source and destination address consist of these bytes. */
function batchOf(socketIndex: number, name: readonly number[], control: readonly number[]): UdpBatch {
  const copyOrigin = (_slot: number, to: Uint8Array, at: number): void => {
    to[at + MissRecord.NAME_LENGTH] = name.length;
    to[at + MissRecord.CONTROL_LENGTH] = control.length;
    to.set(name, at + MissRecord.NAME);
    to.set(control, at + MissRecord.CONTROL);
  };
  return { socketIndex, copyOrigin } as unknown as UdpBatch;
}

const FIRST_BATCH = batchOf(3, Array<number>(28).fill(7), Array<number>(40).fill(8));
const OTHER_BATCH = batchOf(1, Array<number>(16).fill(5), []);

function queryOf(name: string, type: TypeSpec, options: QueryOptions, facts: Partial<Query> = {}): Query {
  const message = messageOf(name, type, options);
  const bytes = new Uint8Array(600);
  bytes.set(message);
  const query = new Query();
  query.begin(bytes, 0, message.length, 600);
  parseQuery(query, 1, 2);
  query.clientBytes = addressFromText('192.0.2.1')!;
  return Object.assign(query, facts);
}

/** A query with all fields and the longest name. */
function fullQuery(): Query {
  const edns = { udpSize: 1400, dnssecOk: true };
  const query = queryOf(
    LONG,
    'HTTPS',
    { id: 0x1234, flags: CD, edns },
    {
      arrivedMs: 1_800_000_000_000.5,
      arrivedMonotonicMs: 12.25,
      hasValidCookie: true,
      limitedBy: LimitReason.QUESTIONS,
    },
  );
  query.clientBytes = addressFromText('2001:db8::7')!;
  query.setCookie(new Uint8Array(COOKIE_SIZE).fill(9));
  return query;
}

/** A query with only its question. */
const bareQuery = (): Query => queryOf('Www.example', 'A', { id: 0x5678 });

let records: MissRecords;
beforeEach(() => {
  records = new MissRecords(new ArrayBuffer(2 * MissRecord.SIZE));
  records.write(0, fullQuery(), FIRST_BATCH, 0, 77);
  records.write(MissRecord.SIZE, bareQuery(), OTHER_BATCH, 0, 78);
});

describe('TriedQuestion.load(), which reads an upstream query,', () => {
  test('reads a question with its flags and its name in lower case', () => {
    const question = new TriedQuestion();
    question.load(records, 0);
    expect(question).toMatchObject({
      qname: nameFromText(LONG),
      qtype: RRType.HTTPS,
      qclass: RRClass.IN,
      dnssecOk: true,
      checkingDisabled: true,
      ecs: null,
    });
    expect(question.qname).toHaveLength(255);
  });

  test('clears all data of the previous question', () => {
    const question = new TriedQuestion();
    question.load(records, 0);
    question.load(records, MissRecord.SIZE);
    expect(question).toMatchObject({
      qname: nameFromText('www.example'),
      qtype: RRType.A,
      qclass: RRClass.IN,
      dnssecOk: false,
      checkingDisabled: false,
    });
  });
});

describe('TriedRequest.load(), which reads a waiting client request,', () => {
  const sent: { reply: Uint8Array; origin: UdpOrigin }[] = [];
  const replies = {
    send: (reply: Uint8Array, { socket, nameLength, bytes }: UdpOrigin) =>
      sent.push({ reply, origin: { socket, nameLength, bytes: bytes.slice() } }),
  } as unknown as UdpReply;

  beforeEach(() => void (sent.length = 0));

  test('reads the client and the question of a request', () => {
    const request = new TriedRequest(replies);
    request.load(records, 0);
    expect(request).toMatchObject({
      kind: 'client',
      message: messageOf(LONG, 'HTTPS', { id: 0x1234, flags: CD }),
      arrivedMs: 1_800_000_000_000.5,
      arrivedMonotonicMs: 12.25,
      udpSize: 1400,
      dnssecOk: true,
      ecs: null,
      passedVersion: 77,
      isOwn: false,
      cookie: new Uint8Array(COOKIE_SIZE).fill(9),
      hasValidCookie: true,
      isRateLimited: true,
      firstTry: null,
      isAnswered: false,
    });
    expect(addressToText(request.client)).toBe('2001:db8::7');
  });

  test('clears all data of the previous request', () => {
    const request = new TriedRequest(replies);
    request.load(records, 0);
    request.send(new Uint8Array(12));
    request.load(records, MissRecord.SIZE);
    expect(request).toMatchObject({
      message: messageOf('Www.example', 'A', { id: 0x5678 }),
      arrivedMs: 0,
      arrivedMonotonicMs: 0,
      udpSize: 0,
      dnssecOk: false,
      passedVersion: 78,
      cookie: null,
      hasValidCookie: false,
      isRateLimited: false,
      isAnswered: false,
    });
    expect(addressToText(request.client)).toBe('192.0.2.1');
  });

  test('sends the reply to the source of the request, from the address that received it', () => {
    const request = new TriedRequest(replies);
    const reply = Uint8Array.of(1, 2, 3);
    request.load(records, 0);
    request.send(reply);
    expect(request.isAnswered).toBe(true);
    request.load(records, MissRecord.SIZE);
    request.send(reply);
    expect(sent).toEqual([
      {
        reply,
        origin: {
          socket: 3,
          nameLength: 28,
          bytes: Uint8Array.of(...Array<number>(28).fill(7), ...Array<number>(40).fill(8)),
        },
      },
      { reply, origin: { socket: 1, nameLength: 16, bytes: new Uint8Array(16).fill(5) } },
    ]);
  });
});

describe('MissRecords.write() for the resolve thread', () => {
  test('marks a query with an alias so that the resolve thread decides its policy again', () => {
    records.write(0, Object.assign(bareQuery(), { aliasLength: 5 }), OTHER_BATCH, 0, 77);
    expect(records.passedVersion(0)).toBe(NOT_PASSED);
  });
});
