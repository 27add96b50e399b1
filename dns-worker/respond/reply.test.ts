import { describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { EdnsOption, Rcode } from '../../shared/dns/iana.ts';
import { FlagsHigh, FlagsLow, Header, MAX_MESSAGE_SIZE, UDP_PAYLOAD_SIZE } from '../../shared/dns/wire.ts';
import { DnssecStatus, Protocol } from '../../shared/query-log.ts';
import { query as queryMessage } from '../../test/support/dns/dns-message.ts';
import { Query } from '../query/query.ts';
import { STREAM_IDLE_MS, StreamOption } from '../query/stream-options.ts';
import { authenticFlag, finishReply, optSize, replyLimit, replyTruncated, replyWithRcode } from './reply.ts';

const ECS = Uint8Array.of(0, 1, 24, 0, 192, 0, 2);
const COOKIE = Uint8Array.from({ length: 24 }, (_, at) => at + 1);

/** A request for www.example.org A in a slot, as parsing leaves it. */
function request(facts: Partial<Query> = {}, capacity = 2048): Query {
  const message = queryMessage('www.example.org', 'A');
  const bytes = new Uint8Array(capacity);
  bytes.set(message);
  const query = new Query();
  query.begin(bytes, 0, message.length, capacity);
  query.protocol = Protocol.udp;
  query.questionEnd = message.length;
  return Object.assign(query, facts);
}

/** Options of the reply's OPT record: code and data; null = there is no OPT. */
function optionsOf({ bytes, replyLength }: Query): { code: number; data: number[] }[] | null {
  const [opt] = decodeMessage(bytes.slice(0, replyLength))?.additionals ?? [];
  if (opt?.type !== 'OPT') return null;
  return (opt.options as { code: number; data: Uint8Array }[]).map(({ code, data }) => ({
    code,
    data: [...data],
  }));
}

describe('finishReply, which completes a reply,', () => {
  const ede = { code: EdnsOption.EDE, data: [0, 17] };
  const cookie = { code: EdnsOption.COOKIE, data: [...COOKIE] };
  const ecs = { code: EdnsOption.ECS, data: [0, 1, 24, 16, 192, 0, 2] };

  test.each([
    ['nothing', false, false, false, []],
    ['an extended error', true, false, false, [ede]],
    ['a cookie', false, true, false, [cookie]],
    ['the client subnet with its scope', false, false, true, [ecs]],
    ['an error and a subnet', true, false, true, [ede, ecs]],
    ['all three', true, true, true, [ede, cookie, ecs]],
  ])(
    'writes an OPT record with %s, of the size that optSize() returns',
    (_what, hasEde, hasCookie, hasEcs, options) => {
      const query = request({ hasEdns: true, udpSize: 1232 });
      if (hasEde) query.extendedError = 17;
      if (hasCookie) query.setCookie(COOKIE);
      if (hasEcs) query.setEcs(ECS, 0, ECS.length);
      query.ecsScope = 16;
      const end = query.questionEnd;
      finishReply(query, Rcode.NOERROR, end);
      expect(optionsOf(query)).toEqual(options);
      expect(query.replyLength).toBe(end + optSize(query));
    },
  );

  test.each([
    ['no options', 11 + 6, 1, 2048],
    ['options', 11 + 5, 1, 2048 - 5],
    ['all options', 11, 1, 2048],
    ['OPT', 10, 0, 2038],
    ['OPT, too,', 0, 0, 2048],
  ])('omits %s rather than records over a stream', (_what, freeBytes, additionals, size) => {
    const facts = {
      hasEdns: true,
      udpSize: 1232,
      protocol: Protocol.tcp,
      extendedError: 17,
      answersCount: 1,
    };
    const query = request(facts);
    finishReply(query, Rcode.NOERROR, 2048 - freeBytes);
    expect(query.replyLength).toBe(size);
    expect(query.bytes[2]! & FlagsHigh.TC).toBe(0);
    expect([query.bytes[7], query.bytes[11]]).toEqual([1, additionals]);
  });

  test('sends the idle timeout to a client on a connection (RFC 7828 section 3.3.2)', () => {
    const facts = { hasEdns: true, udpSize: 1232, streamOptions: StreamOption.KEEPALIVE };
    const query = request({ ...facts, protocol: Protocol.tcp });
    finishReply(query, Rcode.NOERROR, query.questionEnd);
    expect(optionsOf(query)).toEqual([{ code: EdnsOption.TCP_KEEPALIVE, data: [0, STREAM_IDLE_MS / 100] }]);
    expect(query.replyLength).toBe(query.questionEnd + optSize(query));
  });

  test.each([
    ['one block', 0, 468],
    ['the end of a block', 468 - 33 - 11 - 4, 468],
    ['a block more', 468 - 33 - 11 - 3, 936],
    ['no more than there is room for', 1900, 2048],
    ['not at all without room for the option', 2048 - 33 - 11 - 3, 2045],
  ])('pads a reply to %s (RFC 8467 section 4.1)', (_what, bodySize, size) => {
    const facts = { hasEdns: true, udpSize: 1232, streamOptions: StreamOption.PADDING };
    const query = request({ ...facts, protocol: Protocol.dot });
    query.bytes.fill(0xff, query.questionEnd);
    finishReply(query, Rcode.NOERROR, query.questionEnd + bodySize);
    expect([query.questionEnd, query.replyLength]).toEqual([33, size]);
    const opt = query.bytes.subarray(33 + bodySize + 11, query.replyLength);
    const padding = [...opt.subarray(4)];
    expect(padding.every((octet) => octet === 0)).toBe(true);
    if (size !== 2045) expect((opt[2]! << 8) | opt[3]!).toBe(padding.length);
  });

  test('writes no OPT record for a query without OPT, whatever data would be in it', () => {
    const query = request({ extendedError: 17 });
    query.setEcs(ECS, 0, ECS.length);
    finishReply(query, Rcode.NOERROR, query.questionEnd);
    expect(optSize(query)).toBe(0);
    expect(query.replyLength).toBe(query.questionEnd);
    expect(optionsOf(query)).toBeNull();
  });

  test('sets TC and omits the records if they and the options together are one byte too long', () => {
    const withEcs = (udpSize: number): Query => {
      const query = request({
        hasEdns: true,
        udpSize,
        answersCount: 3,
        answersLength: 500,
        authorityCount: 1,
      });
      query.setEcs(ECS, 0, ECS.length);
      return query;
    };
    const bodyEnd = 700;
    const size = bodyEnd + optSize(withEcs(0));
    const fits = withEcs(size);
    finishReply(fits, Rcode.NOERROR, bodyEnd);
    expect(fits.replyLength).toBe(size);
    expect(fits.bytes[Header.FLAGS_HIGH]! & FlagsHigh.TC).toBe(0);
    expect(fits.bytes[Header.ANCOUNT + 1]).toBe(3);

    const cut = withEcs(size - 1);
    finishReply(cut, Rcode.NOERROR, bodyEnd);
    expect(cut.replyLength).toBe(cut.questionEnd + optSize(cut));
    expect(decodeMessage(cut.bytes.slice(0, cut.replyLength))).toMatchObject({
      flag_tc: true,
      answers: [],
      authorities: [],
    });
    expect(cut).toMatchObject({ answersCount: 0, answersLength: 0, authorityCount: 0 });
  });

  test('sends SERVFAIL instead of an extended RCODE if there is no OPT record', () => {
    const without = request();
    finishReply(without, Rcode.BADVERS, without.questionEnd);
    expect(without.rcode).toBe(Rcode.SERVFAIL);
    expect(without.bytes[Header.FLAGS_LOW]! & FlagsLow.RCODE).toBe(Rcode.SERVFAIL);

    const withOpt = request({ hasEdns: true, udpSize: 512 });
    finishReply(withOpt, Rcode.BADVERS, withOpt.questionEnd);
    expect(withOpt.rcode).toBe(Rcode.BADVERS);
    expect(withOpt.bytes[Header.FLAGS_LOW]! & FlagsLow.RCODE).toBe(0);
    expect(withOpt.bytes[withOpt.questionEnd + 5]).toBe(1);
  });

  test('echoes opcode, RD and CD of the query, and sets AA and AD of the answer', () => {
    const query = request({ replyFlags: FlagsHigh.AA | FlagsLow.AD });
    query.bytes[Header.FLAGS_HIGH] = FlagsHigh.RD | FlagsHigh.TC;
    query.bytes[Header.FLAGS_LOW] = FlagsLow.CD;
    finishReply(query, Rcode.NXDOMAIN, query.questionEnd);
    expect(query.bytes[Header.FLAGS_HIGH]).toBe(FlagsHigh.QR | FlagsHigh.RD | FlagsHigh.AA);
    expect(query.bytes[Header.FLAGS_LOW]).toBe(FlagsLow.RA | FlagsLow.CD | FlagsLow.AD | Rcode.NXDOMAIN);
  });
});

describe('replyLimit, the maximum size of a reply,', () => {
  test.each([
    ['512 without EDNS', { udpSize: 512 }, 512],
    ['512 without EDNS, whatever else is in the query', { udpSize: 4096 }, 512],
    ['what the client takes', { hasEdns: true, udpSize: 900 }, 900],
    ['1232 if the client takes more', { hasEdns: true, udpSize: 4096 }, UDP_PAYLOAD_SIZE],
    ['the slot over TCP', { protocol: Protocol.tcp, udpSize: 512 }, 2048],
  ])('is %s', (_what, facts, limit) => {
    expect(replyLimit(request(facts))).toBe(limit);
  });

  test('replyLimit() over TCP is the maximum of a message', () => {
    expect(replyLimit(request({ protocol: Protocol.tcp }, MAX_MESSAGE_SIZE + 100))).toBe(MAX_MESSAGE_SIZE);
  });
});

describe('authenticFlag, the AD bit of a reply,', () => {
  test.each([
    [{ dnssecOk: true, dnssec: DnssecStatus.secure }, FlagsLow.AD],
    [{ authenticDataWanted: true, dnssec: DnssecStatus.secure }, FlagsLow.AD],
    [{ dnssec: DnssecStatus.secure }, 0],
    [{ dnssecOk: true, authenticDataWanted: true, dnssec: DnssecStatus.insecure }, 0],
  ])('of %j is %i', (facts, flag) => {
    expect(authenticFlag(request(facts))).toBe(flag);
  });
});

describe('replyTruncated()', () => {
  test('sends TC and the question section', () => {
    const query = request({ protocol: Protocol.tcp, answersCount: 1 });
    replyTruncated(query, Rcode.NOERROR);
    expect(query.replyLength).toBe(query.questionEnd);
    expect(query.bytes[Header.FLAGS_HIGH]! & FlagsHigh.TC).toBe(FlagsHigh.TC);
  });
});

describe('replyWithRcode', () => {
  test('sends only a header if the question could not be read', () => {
    const query = request({ questionEnd: 0, answersCount: 2 });
    replyWithRcode(query, Rcode.FORMERR);
    expect(query.replyLength).toBe(Header.SIZE);
    expect(query.bytes[Header.QDCOUNT + 1]).toBe(0);
    expect(query.bytes[Header.ANCOUNT + 1]).toBe(0);
  });
});
