/** Messages of the kernel, some of them captured and some malformed. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from '../../../test/support/parts/fast-check.ts';
import { type Neighbour, neighbourRequest, readArpText, readNeighbours } from './neighbour-messages.ts';
import { openNeighbourTable } from './neighbour-table.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';

const REACHABLE = 0x02;
const STALE = 0x04;
const FAILED = 0x20;
const NOARP = 0x40;

/** RTM_NEWNEIGH of an address with attributes NDA_DST and NDA_LLADDR. */
function neighbour(state: number, address: readonly number[], mac: readonly number[], flags = 0): Uint8Array {
  const attribute = (type: number, value: readonly number[]): number[] => {
    const length = 4 + value.length;
    return [length, 0, type, 0, ...value, ...Array<number>((4 - (length & 3)) & 3).fill(0)];
  };
  const body = [2, 0, 0, 0, 7, 0, 0, 0, state, 0, flags, 1, ...attribute(1, address), ...attribute(2, mac)];
  return message(28, body);
}

function message(type: number, body: readonly number[]): Uint8Array {
  const length = 16 + body.length;
  return Uint8Array.of(length, 0, 0, 0, type, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...body);
}

const MAC = [2, 0, 0x5e, 0x10, 0, 1];
const IPV4 = [192, 0, 2, 7];
const IPV6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];

function read(...messages: readonly Uint8Array[]): { found: Neighbour[]; isDone: boolean } {
  const found: Neighbour[] = [];
  const isDone = readNeighbours(Buffer.concat(messages), found);
  return { found, isDone };
}

describe('readNeighbours(), the neighbour table of the kernel,', () => {
  test("returns the IPv4 and IPv6 neighbours, up to the end of the kernel's answer", () => {
    const messages = [neighbour(REACHABLE, IPV4, MAC), neighbour(STALE, IPV6, MAC)];
    const found = [
      { address: '192.0.2.7', mac: '02:00:5e:10:00:01' },
      { address: '2001:db8::7', mac: '02:00:5e:10:00:01' },
    ];
    expect(read(...messages)).toEqual({ found, isDone: false });
    expect(read(...messages, message(3, [0, 0, 0, 0]))).toEqual({ found, isDone: true });
  });

  test.each([
    ['did not answer', neighbour(FAILED, IPV4, MAC)],
    ['is not asked', neighbour(NOARP, IPV4, MAC)],
    ['has no MAC', neighbour(REACHABLE, IPV4, [0, 0, 0, 0, 0, 0])],
    ['has other hardware', neighbour(REACHABLE, IPV4, [1, 2, 3, 4])],
    ['is this machine for another', neighbour(REACHABLE, IPV4, MAC, 0x08)],
    ['is of another family', neighbour(REACHABLE, [1, 2], MAC)],
  ])('leaves out a neighbour that %s', (_what, bytes) => expect(read(bytes).found).toEqual([]));

  test('throws an error that the kernel reports', () => {
    expect(read(message(2, [0, 0, 0, 0]))).toEqual({ found: [], isDone: true });
  });

  test('never reads past the end of the message and always terminates', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(100), (noise, cut) => {
        const whole = Buffer.concat([neighbour(REACHABLE, IPV6, MAC), noise]);
        for (const bytes of [noise, whole.subarray(0, cut)]) {
          const found: Neighbour[] = [];
          readNeighbours(bytes, found);
          expect(found.length).toBeLessThan(10);
        }
      }),
    );
  });

  test('neighbourRequest() returns a header with its length, and an empty body', () => {
    expect([...neighbourRequest().subarray(0, 8)]).toEqual([28, 0, 0, 0, 30, 0, 1, 3]);
  });
});

describe('readArpText(), the text of /proc/net/arp,', () => {
  test('returns the complete entries', () => {
    const text = `IP address       HW type     Flags       HW address            Mask     Device
192.0.2.7        0x1         0x2         02:00:5E:10:00:01     *        eth0
192.0.2.8        0x1         0x0         00:00:00:00:00:00     *        eth0
192.0.2.9        0x1         0x6         02:00:5e:10:00:02     *        eth0
`;
    expect(readArpText(text)).toEqual([
      { address: '192.0.2.7', mac: '02:00:5e:10:00:01' },
      { address: '192.0.2.9', mac: '02:00:5e:10:00:02' },
    ]);
  });
});

test('openNeighbourTable() reads the neighbour table of this machine', () => {
  const logger = new MemoryLogger();
  const read = openNeighbourTable(logger, (path) => readFileSync(path, 'utf8'));
  for (const { address, mac } of read()) {
    expect(address).toMatch(/^[0-9a-f.:]+$/);
    expect(mac).toMatch(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
  }
  expect(JSON.stringify(logger)).not.toContain('/proc/net/arp');
});
