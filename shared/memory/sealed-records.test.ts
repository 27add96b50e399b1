import { expect, test } from '@jest/globals';
import { wireName } from '../../test/support/dns/built-messages.ts';
import { createSealedRecords, SealedRecords } from './sealed-records.ts';

const CONTEXT = Uint8Array.of(1);
const NAME = wireName('example');
const content = (byte: number, length = 40): Uint8Array => new Uint8Array(length).fill(byte);

function threads(memory = createSealedRecords(3)): [SealedRecords, SealedRecords] {
  return [new SealedRecords(memory, 0, CONTEXT), new SealedRecords(memory, 2, CONTEXT)];
}

test('SealedRecords.find() returns the record that any thread stored last under the name', () => {
  const [first, last] = threads();
  expect(last.find(NAME)).toBeNull();
  first.keep(NAME, content(1));
  expect(last.find(NAME)).toEqual(content(1));
  last.keep(NAME, content(2, 300));
  expect(first.find(NAME)).toEqual(content(2, 300));
  expect(first.find(wireName('example.example'))).toBeNull();
});

test('SealedRecords.find() returns no record stored with a different context or by another node', () => {
  const memory = createSealedRecords(2);
  const [first] = threads(memory);
  first.keep(NAME, content(1));
  expect(new SealedRecords(memory, 1, Uint8Array.of(2)).find(NAME)).toBeNull();
  const copy = createSealedRecords(2);
  new Uint8Array(copy).set(new Uint8Array(memory).subarray(32), 32);
  expect(new SealedRecords(copy, 1, CONTEXT).find(NAME)).toBeNull();
});

test('SealedRecords.find() returns no record of which any byte was changed', () => {
  const memory = createSealedRecords(2);
  const bytes = new Uint8Array(memory);
  const before = bytes.slice();
  const [writer, reader] = threads(memory);
  writer.keep(NAME, content(1));
  const written = [...bytes.keys()].filter((at) => bytes[at] !== before[at]);
  expect(written.length).toBeGreaterThan(40);
  const [seen, changed] = [reader.find(NAME), new Set<string>()];
  for (const at of written) {
    bytes[at]! ^= 0x80;
    changed.add(JSON.stringify(reader.find(NAME)));
    bytes[at]! ^= 0x80;
  }
  expect(seen).toEqual(content(1));
  // Only the writer of the ring uses the word for its end.
  expect([...changed].filter((it) => it !== JSON.stringify(seen))).toEqual(['null']);
  expect(reader.find(NAME)).toEqual(content(1));
});

test('SealedRecords.find() returns no record that newer records have overwritten', () => {
  const [writer, reader] = threads();
  writer.keep(NAME, content(1));
  const others = Array.from({ length: 200 }, (_, i) => wireName(`other${String(i)}`));
  for (const [i, name] of others.entries()) writer.keep(name, content(i, 4000));
  expect(reader.find(NAME)).toBeNull();
  expect(reader.find(others[0]!)).toBeNull();
  expect(reader.find(others.at(-1)!)).toEqual(content(199, 4000));
});

test('SealedRecords.keep() does not store records of more than 4096 bytes', () => {
  const [writer, reader] = threads();
  writer.keep(NAME, content(1, 4096));
  writer.keep(NAME, content(2, 4097));
  expect(reader.find(NAME)).toEqual(content(1, 4096));
});
