/** Groups without IPv6, tested with real messages. */
import { describe, expect, test } from '@jest/globals';
import { decodeMessage } from '../../shared/dns/codec.ts';
import { readU16, Record, skipName } from '../../shared/dns/wire.ts';
import { type TestRecord, a, cname, octets, u16, wireName } from '../../test/support/dns/built-messages.ts';
import { PolicyPipeline } from '../../test/support/parts/policy-pipeline.ts';

const [AAAA, HTTPS] = [28, 65];
const GROUPS = { groups: [{ id: 1, enabled: true, noIpv6: true }] };
const IPV4_HINT = octets(u16(4), u16(4), [192, 0, 2, 1]);
const IPV6_HINT = octets(u16(6), u16(16), [0x20, 0x01, 0x0d, 0xb8, ...Array<number>(11).fill(0), 1]);
const DOH_PATH = octets(u16(7), u16(2), [0x2f, 0x78]);

const https = (owner: string, ...parameters: Uint8Array[]): TestRecord => ({
  owner: wireName(owner),
  type: HTTPS,
  ttl: 300,
  rdata: octets(u16(1), [0], ...parameters),
});

/** Owner and RDATA of each record of the answer. */
function dataOf(weir: PolicyPipeline, name: string, type: number): readonly string[] {
  const { bytes, at, replyLength } = weir.ask(name, type).query;
  const reply = decodeMessage(bytes.slice(at, at + replyLength))!;
  let next = at + 12 + wireName(name).length + 4;
  return (reply.answers ?? []).map((record) => {
    const rdata = skipName(bytes, next, at + replyLength) + Record.RDATA;
    next = rdata + readU16(bytes, rdata - 2);
    return `${record.name} ${Buffer.from(bytes.slice(rdata, next)).toString('hex')}`;
  });
}

describe('a group with no_ipv6', () => {
  test('gets NODATA for AAAA, even from the cache, and normal answers for other types', () => {
    const weir = new PolicyPipeline();
    weir.cache('www.example', AAAA, [
      { ...a('www.example', '192.0.2.1'), type: AAAA, rdata: new Uint8Array(16) },
    ]);
    weir.cache('www.example', 1, [a('www.example', '192.0.2.1')]);
    weir.use([], {});
    expect(weir.ask('www.example', AAAA).status).toBe('CACHED');
    weir.use([], GROUPS);
    expect([weir.ask('www.example', AAAA).status, dataOf(weir, 'www.example', AAAA)]).toEqual(['LOCAL', []]);
    expect(weir.ask('www.example', 1).status).toBe('CACHED');
  });

  test('gets HTTPS records without IPv6 hints but with all other parameters', () => {
    const weir = new PolicyPipeline();
    const target = 'cdn.service.example';
    weir.cache('www.example', HTTPS, [
      cname('www.example', target),
      https(target, IPV4_HINT, IPV6_HINT, DOH_PATH),
      https(target, IPV6_HINT),
      https(target, IPV4_HINT),
    ]);
    weir.use([], {});
    const whole = dataOf(weir, 'www.example', HTTPS);
    weir.use([], GROUPS);
    const [alias, ...records] = dataOf(weir, 'www.example', HTTPS);
    expect(alias).toBe(whole[0]);
    const recordOf = (...parts: Uint8Array[]): string =>
      `${target} ${Buffer.from(octets(u16(1), [0], ...parts)).toString('hex')}`;
    expect(records).toEqual([recordOf(IPV4_HINT, DOH_PATH), recordOf(), recordOf(IPV4_HINT)]);
    expect(whole.join()).toContain('20010db8');
  });
});
