import { describe, expect, test } from '@jest/globals';
import { query as queryMessage } from '../../test/support/dns/dns-message.ts';
import { octets, u16 } from '../../test/support/dns/built-messages.ts';
import fc from '../../test/support/parts/fast-check.ts';
import { readEcs } from './query-ecs.ts';
import { ParseOutcome, parseQuery } from './parse-query.ts';
import { Query } from './query.ts';

const ECS = [0, 1, 24, 0, 192, 0, 2];
const query = new Query();

/** Reads a request whose OPT record has these options, and the version; false if either reader refuses it. */
function read(options: Uint8Array, version = 0): boolean {
  const message = queryMessage('www.example.org', 'A', { edns: { version } });
  message.set(u16(options.length), message.length - 2);
  const whole = octets([255], message, options, [0, 8, 0, 7, ...ECS]);
  query.begin(whole, 1, message.length + options.length, whole.length - 1);
  return parseQuery(query, 1, 2) === ParseOutcome.OK && readEcs(query);
}

function option(code: number, data: readonly number[]): Uint8Array {
  return octets(u16(code), u16(data.length), data);
}

describe('readEcs(), which reads the EDNS Client Subnet (ECS) option,', () => {
  test('finds the ECS option among other options', () => {
    expect(read(octets(option(10, [1, 2, 3, 4, 5, 6, 7, 8]), option(8, ECS), option(12, [0, 0])))).toBe(true);
    expect([...query.copyEcs()!]).toEqual(ECS);
    expect(query.isEcsSpecific).toBe(true);
  });

  test('accepts a query without ECS, and clears the subnet of the previous query', () => {
    read(option(8, ECS));
    expect(read(new Uint8Array(0))).toBe(true);
    expect([query.copyEcs(), query.isEcsSpecific]).toEqual([null, false]);
  });

  test('keeps a subnet with prefix length 0, whose answer is for all clients', () => {
    expect(read(option(8, [0, 2, 0, 0]))).toBe(true);
    expect([...query.copyEcs()!]).toEqual([0, 2, 0, 0]);
    expect(query.isEcsSpecific).toBe(false);
  });

  test.each([
    ['a malformed subnet', option(8, [0, 1, 24, 0, 192, 0])],
    ['two subnets', octets(option(8, ECS), option(12, []), option(8, ECS))],
    ['an option before it that leaves the record', octets(u16(12), u16(100), option(8, ECS))],
    ['an option behind it that leaves the record', octets(option(8, ECS), u16(12), u16(1))],
    ['a subnet that leaves the record', octets(u16(8), u16(7), [0, 1, 24, 0])],
  ])('rejects %s', (_what, options) => {
    expect(read(options)).toBe(false);
    expect(query.ecsLength).toBe(0);
  });

  test('ignores options of another EDNS version', () => {
    expect(read(octets(option(8, [1]), [7]), 1)).toBe(true);
    expect(query.ecsLength).toBe(0);
  });

  test('reads nothing beyond the OPT record, for any options', () => {
    const part = fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      fc.constant(option(8, [0, 1, 8, 0, 10])),
      fc.uint8Array({ maxLength: 20 }).map((data) => option(8, [...data])),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const options = octets(...parts);
        const taken = read(options) ? Buffer.from(query.copyEcs() ?? []) : Buffer.alloc(0);
        expect(Buffer.from(options).includes(taken)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
