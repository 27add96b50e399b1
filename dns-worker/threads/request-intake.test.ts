import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { addressFromText } from '../../shared/net/ip.ts';
import { NOT_PASSED } from '../../shared/memory/miss-ring.ts';
import { Protocol, type ProtocolCode } from '../../shared/query-log.ts';
import { a } from '../../test/support/dns/built-messages.ts';
import { query, type QueryOptions, Reply } from '../../test/support/dns/dns-message.ts';
import { Forwarding } from '../../test/support/parts/forwarding.ts';
import type { UdpOrigin, UdpReply } from '../listeners/udp-reply.ts';
import type { Miss } from '../misses/miss-reader.ts';
import { RequestIntake, SCRATCH_SIZE } from './request-intake.ts';

const NAME = 'www.example.org';
const CLIENT = addressFromText('192.0.2.1')!;
const ORIGIN: UdpOrigin = { socket: 0, nameLength: 0, bytes: new Uint8Array(0) };

let forwarding: Forwarding;
let intake: RequestIntake;
let replies: Reply[];
beforeEach(() => {
  forwarding = new Forwarding();
  replies = [];
  const udpReply = {
    send: (reply: Uint8Array, origin: UdpOrigin) => {
      expect(origin).toBe(ORIGIN);
      replies.push(new Reply(reply.slice(), ''));
    },
  } as unknown as UdpReply;
  const { pipeline, forwarder, reporter } = forwarding;
  intake = new RequestIntake({ pipeline, forwarder, reporter, udpReply });
});
afterEach(() => forwarding[Symbol.dispose]());

function ask(
  options: QueryOptions = {},
  protocol: ProtocolCode = Protocol.tcp,
  capacity = SCRATCH_SIZE,
): void {
  intake.answer(query(NAME, 'A', options), {
    address: CLIENT,
    protocol,
    clientKey: '',
    capacity,
    send: (reply) => replies.push(new Reply(reply.slice(), '')),
  });
}

function missOf(rest: Partial<Miss> = {}): Miss {
  return {
    message: query(NAME, 'A', { id: 7 }),
    client: CLIENT,
    arrivedMs: 1,
    arrivedMonotonicMs: 2,
    udpSize: 0,
    dnssecOk: false,
    ecs: null,
    cookie: null,
    hasValidCookie: false,
    isRefresh: false,
    isRateLimited: false,
    firstTry: null,
    passedVersion: NOT_PASSED,
    origin: ORIGIN,
    ...rest,
  };
}

describe('RequestIntake.answer() for a client query', () => {
  test('answers queries for which the pipeline has an answer at once, and logs them', () => {
    forwarding.use([{ text: `||${NAME}^`, reading: { kind: 'block', subdomains: false } }]);
    ask({ id: 9 });
    expect(replies.map(({ id, data }) => [id, data])).toEqual([[9, ['0.0.0.0']]]);
    expect(forwarding.reporter.logged.map(({ status }) => status)).toEqual(['BLOCKED_LIST']);
  });

  test('sends a query to the upstreams, and answers in the form that the client requested', () => {
    ask({ id: 9, edns: { udpSize: 1232, dnssecOk: true } });
    expect(replies).toEqual([]);
    expect(forwarding.held[0]!.question).toMatchObject({ qtype: 1, dnssecOk: true });
    forwarding.answer({ answers: [a(NAME, '192.0.2.7')] });
    const [reply] = replies;
    expect([reply!.id, reply!.data, reply!.opt?.dnssecOk]).toEqual([9, ['192.0.2.7'], true]);
  });

  test('answers without EDNS if the query had no EDNS', () => {
    ask();
    forwarding.answer({ answers: [a(NAME, '192.0.2.7')] });
    expect(replies[0]!.opt).toBeNull();
  });

  test('sends nothing if the query must not be answered', () => {
    intake.answer(new Uint8Array(5), {
      address: CLIENT,
      protocol: Protocol.udp,
      clientKey: '',
      capacity: 512,
      send: () => replies.push(null as never),
    });
    expect([replies, forwarding.held]).toEqual([[], []]);
  });
});

describe('RequestIntake.takeMiss() for a query from an answer thread', () => {
  test('answers through the socket that received the query', () => {
    intake.takeMiss(missOf());
    forwarding.answer({ answers: [a(NAME, '192.0.2.7')] });
    expect(replies.map(({ id, data }) => [id, data])).toEqual([[7, ['192.0.2.7']]]);
  });

  test('refreshes an expiring cached answer without sending a second reply', () => {
    const message = query(NAME, 'A', { flags: 0x8590 });
    message[5] = 0;
    intake.takeMiss(missOf({ isRefresh: true, message }));
    expect(forwarding.held[0]!.question).toMatchObject({ checkingDisabled: true });
    forwarding.answer({ answers: [a(NAME, '192.0.2.7')] });
    expect([replies, forwarding.reporter.logged]).toEqual([[], []]);
    intake.takeMiss(missOf({ message: query(NAME, 'A', { id: 7, flags: 0x0110 }) }));
    expect(replies.map(({ data }) => data)).toEqual([['192.0.2.7']]);
  });
});
