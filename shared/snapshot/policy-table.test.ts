import { describe, expect, test } from '@jest/globals';
import { LAYOUT_VERSION, POLICY_TABLE_MAGIC, PolicyTableLayout as L } from './layout.ts';
import { AddressFamily, PolicyTable } from './policy-table.ts';

const GROUPS = 2;
const CLASSES = 2;
const ATTRIBUTES = 3;
const SOURCES = 5;
const MANUAL_ATTRIBUTES = 1;
const OWNERS = 4;
const ROWS_END = (L.HEADER_WORDS + GROUPS * L.GROUP_ROW_WORDS) * 4;
const BYTES = CLASSES * (2 * (ATTRIBUTES + SOURCES) + MANUAL_ATTRIBUTES + OWNERS);

/** A table in which each byte of the matrices is its offset, counted from 100. */
function policyBuffer(bytes: number = BYTES): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(ROWS_END + ((bytes + 3) & ~3));
  const words = new Uint32Array(buffer);
  words.set([POLICY_TABLE_MAGIC, LAYOUT_VERSION, 77, GROUPS, CLASSES, ATTRIBUTES, 1, 3, 60]);
  words[L.SOURCE_COUNT_WORD] = SOURCES;
  words[L.MANUAL_ATTRIBUTE_COUNT_WORD] = MANUAL_ATTRIBUTES;
  words[L.MANUAL_OWNER_COUNT_WORD] = OWNERS;
  words[L.QUESTION_FLAGS_WORD] = 9;
  words[L.ADDRESS_FAMILIES_WORD] = AddressFamily.IPV6;
  words.set([1, 0, 0, 0, 8, 1, 2, 1_800_000_000], L.HEADER_WORDS);
  new Uint8Array(buffer).set([192, 0, 2, 1], L.CUSTOM_IPV4_BYTE);
  new Uint8Array(buffer).set([0x20, 1, 0xd, 0xb8], L.CUSTOM_IPV6_BYTE);
  const matrices = new Uint8Array(buffer, ROWS_END);
  for (const at of matrices.keys()) matrices[at] = 100 + at;
  return buffer;
}

describe('PolicyTable, the groups and settings of a policy snapshot,', () => {
  test('reads the values of its header', () => {
    const table = new PolicyTable(policyBuffer());
    expect(table).toMatchObject({
      snapshotVersion: 77,
      groupCount: 2,
      attributeCount: 3,
      manualAttributeCount: 1,
      blockingEnabled: true,
      blockingMode: 3,
      blockingTtlSecs: 60,
      questionFlags: 9,
      givesIpv4: false,
      givesIpv6: true,
    });
    expect([...table.customIpv4]).toEqual([192, 0, 2, 1]);
    expect([...table.customIpv6.subarray(0, 5)]).toEqual([0x20, 1, 0xd, 0xb8, 0]);
    expect(table.customIpv6).toHaveLength(16);
  });

  test.each([
    ['another magic', L.MAGIC_WORD, 1],
    ['a different layout', L.VERSION_WORD, LAYOUT_VERSION - 1],
  ])('rejects a buffer of %s', (_, word, value) => {
    const buffer = policyBuffer();
    new Uint32Array(buffer)[word] = value;
    expect(() => new PolicyTable(buffer)).toThrow('it has a different layout');
  });

  test('rejects a buffer that is shorter than its header states', () => {
    expect(() => new PolicyTable(policyBuffer(BYTES - 4))).toThrow('shorter than its header says');
  });

  test('reads the settings of each group', () => {
    const table = new PolicyTable(policyBuffer());
    const rows = [0, 1].map((index) => [
      table.groupId(index),
      table.groupClass(index),
      table.groupOverride(index),
      table.groupNextFlipAtSecs(index),
    ]);
    expect(rows).toEqual([
      [1, 0, 0, 0],
      [8, 1, 2, 1_800_000_000],
    ]);
  });

  test('reads what an attribute means for a class: lists first, then manual rules', () => {
    const table = new PolicyTable(policyBuffer());
    expect([table.kindsOf(0, 0), table.kindsOf(0, 2), table.kindsOf(1, 0)]).toEqual([100, 102, 103]);
    const manualAt = 100 + CLASSES * (ATTRIBUTES + SOURCES);
    expect([table.manualKindsOf(0, 0), table.manualKindsOf(1, 0)]).toEqual([manualAt, manualAt + 1]);
    const allowlistsAt = manualAt + CLASSES * (MANUAL_ATTRIBUTES + OWNERS);
    expect(table.allowlistKindsOf(1, 2)).toBe(allowlistsAt + ATTRIBUTES + 2);
  });

  test('gives each class a separate row of sources and of rule owners', () => {
    const table = new PolicyTable(policyBuffer());
    const sourcesAt = 100 + CLASSES * ATTRIBUTES;
    const ownersAt = sourcesAt + CLASSES * (SOURCES + MANUAL_ATTRIBUTES);
    expect([...table.sourcesOf(1)]).toEqual([5, 6, 7, 8, 9].map((at) => sourcesAt + at));
    expect([...table.sourcesOf(0)]).toEqual([0, 1, 2, 3, 4].map((at) => sourcesAt + at));
    expect([...table.ownersOf(1)]).toEqual([4, 5, 6, 7].map((at) => ownersAt + at));
    expect(table.sourcesOf(1)).toBe(table.sourcesOf(1));
  });

  test('reports whether a list is an allowlist that applies to a class', () => {
    const buffer = policyBuffer();
    const flags = new Uint8Array(buffer, ROWS_END + BYTES - CLASSES * SOURCES, CLASSES * SOURCES);
    flags.fill(0);
    flags[SOURCES + 2] = 1;
    const table = new PolicyTable(buffer);
    const asked = [table.isAllowlist(1, 2), table.isAllowlist(0, 2), table.isAllowlist(1, 1)];
    expect(asked).toEqual([true, false, false]);
  });

  test('reports whether a list applies to a class', () => {
    const buffer = policyBuffer();
    const served = new Uint8Array(buffer, ROWS_END + CLASSES * ATTRIBUTES, CLASSES * SOURCES);
    served.fill(0);
    served[SOURCES + 2] = 1;
    const table = new PolicyTable(buffer);
    expect([table.isServed(1, 2), table.isServed(0, 2), table.isServed(1, 1)]).toEqual([true, false, false]);
  });
});
