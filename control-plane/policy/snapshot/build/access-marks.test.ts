import { describe, expect, test } from '@jest/globals';
import fc from '../../../../test/support/parts/fast-check.ts';
import { networkFromText, networkToText } from '../../../../shared/net/cidr.ts';
import { addressFromText, addressToText, isMappedIpv4 } from '../../../../shared/net/ip.ts';
import { accessOf, admitsAddress, EVERYONE, withBlockedAddresses } from '../../../../shared/policy/access.ts';
import { ClientTable, isAdmitted, isBlocked } from '../../../../shared/snapshot/client-table.ts';
import { NOTHING_LIVE } from '../../change/runtime-state.ts';
import { NO_POLICY_ROWS } from '../../change/rows.ts';
import { overlay } from './access-marks.ts';
import { buildClientTable } from './client-table-builder.ts';

/** Only few different bytes, so that networks are often nested or adjacent. */
const byte = fc.constantFrom(0, 1, 127, 128, 254, 255);
const address = fc
  .tuple(fc.boolean(), fc.array(byte, { minLength: 16, maxLength: 16 }))
  .map(([isIpv4, bytes]) =>
    isIpv4 ? bytes.slice(12).join('.') : addressToText(Uint8Array.from([0x20, ...bytes.slice(1)])),
  );
const network = fc
  .tuple(address, fc.integer({ min: 0, max: 128 }))
  .map(([text, bits]) =>
    networkToText(networkFromText(`${text}/${String(text.includes(':') ? bits : bits % 33)}`)!),
  );
const networks = fc.array(network, { maxLength: 12 });
const groups = Array.from({ length: 5 }, (_, index) => ({ id: index + 1, enabled: true }));

describe('the flags of admitted clients in a client table', () => {
  test('equal the result of comparing every network, for generated addresses and groups', () => {
    fc.assert(
      fc.property(
        networks,
        networks,
        fc.array(fc.tuple(network, fc.integer({ min: 1, max: 5 })), { maxLength: 12 }),
        fc.array(address, { minLength: 1, maxLength: 30 }),
        (allowed, blocked, subnets, addresses) => {
          const access = accessOf(allowed, blocked, []);
          const rows = {
            ...NO_POLICY_ROWS,
            groups,
            subnets: subnets.map(([cidr, groupId]) => ({ cidr, groupId })),
          };
          const table = new ClientTable(buildClientTable(rows, { ...NOTHING_LIVE, access }));
          const open = new ClientTable(buildClientTable(rows, NOTHING_LIVE));
          const bounds = [...allowed, ...blocked].map((text) => text.split('/')[0]!);
          for (const text of [...addresses, ...bounds]) {
            const clientBytes = addressFromText(text)!;
            const entry = table.findOf({ clientBytes, clientAt: 0 });
            expect([text, isAdmitted(entry)]).toEqual([text, admitsAddress(access, clientBytes)]);
            const isIn = blocked.some((one) => holds(one, clientBytes));
            expect([text, isBlocked(entry)]).toEqual([text, isIn]);
            const openEntry = open.findOf({ clientBytes, clientAt: 0 });
            expect(isAdmitted(openEntry)).toBe(true);
            expect(table.groupIndexOf(entry)).toBe(open.groupIndexOf(openEntry));
            expect(table.describe(entry)).toEqual(open.describe(openEntry));
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test('include the first and the last address of IPv4 and IPv6', () => {
    const access = accessOf(
      ['255.255.255.255', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '0.0.0.0', '::'],
      [],
      [],
    );
    const table = new ClientTable(buildClientTable(NO_POLICY_ROWS, { ...NOTHING_LIVE, access }));
    const may = (text: string): boolean =>
      isAdmitted(table.findOf({ clientBytes: addressFromText(text)!, clientAt: 0 }));
    expect(['255.255.255.255', '0.0.0.0', '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'].map(may)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(['255.255.255.254', '0.0.0.1', '::2', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe'].map(may)).toEqual(
      [false, false, false, false],
    );
  });

  test('block a MAC whose addresses are not known yet', () => {
    const access = withBlockedAddresses(EVERYONE, ['ffff:ffff::200:5e10:1']);
    const table = new ClientTable(buildClientTable(NO_POLICY_ROWS, { ...NOTHING_LIVE, access }));
    expect(table.hasMacs).toBe(true);
  });
});

describe('overlay()', () => {
  test('splits ranges at each change of flags, and keeps ranges that begin at the same address', () => {
    expect(
      overlay(
        { starts: [0, 10, 20], records: [0, 1, 2] },
        { starts: [0, 5, 10, 15], records: [0, 256, 512, 0] },
      ),
    ).toEqual({ starts: [0, 5, 10, 15, 20], records: [0, 256, 513, 1, 2] });
  });
});

function holds(text: string, bytes: Uint8Array): boolean {
  const [base, bits] = text.split('/');
  if (isMappedIpv4(bytes) === base!.includes(':')) return false;
  const masked = networkFromText(`${addressToText(bytes)}/${bits!}`)!;
  return networkToText(masked) === text;
}
