/** Changes an input: bits, bytes, numbers at boundaries, blocks, words of a dictionary, splices with another input. */
import type { Random } from './seeded-random.ts';

const OCTETS = [0, 1, 0x0a, 0x20, 0x22, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xfe, 0xff] as const;
const NUMBERS = [
  ...[0, 1, 2, 3, 4, 5, 10, 11, 12, 16, 32, 63, 64, 100, 127, 128, 253, 254, 255, 256, 257, 511, 512, 1024],
  ...[0x3fff, 0x4000, 0x7fff, 0x8000, 0xc000, 0xc00c, 0xfffe, 0xffff, 0x10000, 0x7fffffff, 0x80000000],
  ...[0xfffffffe, 0xffffffff],
] as const;
/** Maximum length of a moved or repeated block. */
const MAX_BLOCK = 256;
/** Maximum number of changes in one mutation. */
const MAX_CHANGES = 6;

/** Sources of inserted bytes. */
export interface Material {
  readonly dictionary: readonly Uint8Array[];
  /** Another input of the corpus. */
  readonly other: () => Uint8Array;
  readonly maxLength: number;
}

type Change = (input: Uint8Array, random: Random, material: Material) => Uint8Array;

/** A changed copy of `input`, at most `maxLength` bytes long. */
export function mutate(input: Uint8Array, random: Random, material: Material): Uint8Array {
  let changed: Uint8Array = input.slice();
  for (let left = 1 + random.below(random.once(3) ? MAX_CHANGES : 2); left > 0; left--) {
    changed = random.of(CHANGES)(changed, random, material);
    if (changed.length > material.maxLength) changed = changed.slice(0, material.maxLength);
  }
  return changed;
}

const flipBit: Change = (input, random) => {
  if (input.length > 0) input[random.below(input.length)]! ^= 1 << random.below(8);
  return input;
};

const setOctet: Change = (input, random) => {
  if (input.length > 0)
    input[random.below(input.length)] = random.once(2) ? random.of(OCTETS) : random.below(256);
  return input;
};

const addToOctet: Change = (input, random) => {
  if (input.length > 0) input[random.below(input.length)]! += random.below(17) - 8;
  return input;
};

/** Sets a number of one, two or four bytes, big-endian as in all supported protocols. */
const setNumber: Change = (input, random) => {
  const size = random.of([1, 2, 2, 4]);
  if (input.length < size) return input;
  const at = random.below(input.length - size + 1);
  let value: number = random.once(4) ? input.length - random.below(16) : random.of(NUMBERS);
  if (random.once(4)) value += random.below(5) - 2;
  for (let i = size - 1; i >= 0; i--, value = Math.floor(value / 256)) input[at + i] = value;
  return input;
};

const deleteBlock: Change = (input, random) => {
  if (input.length === 0) return input;
  const { at, length } = blockOf(input, random);
  return joined(input.subarray(0, at), input.subarray(at + length));
};

const repeatBlock: Change = (input, random) => {
  if (input.length === 0) return input;
  const { at, length } = blockOf(input, random);
  const times = random.once(8) ? 1 + random.below(64) : 1;
  const block = input.subarray(at, at + length);
  return inserted(input, at, joined(...Array.from({ length: times }, () => block)));
};

const moveBlock: Change = (input, random) => {
  if (input.length === 0) return input;
  const { at, length } = blockOf(input, random);
  const block = input.slice(at, at + length);
  const rest = joined(input.subarray(0, at), input.subarray(at + length));
  return inserted(rest, random.below(rest.length + 1), block);
};

const insertOctets: Change = (input, random) => {
  const octets = new Uint8Array(1 + random.below(random.once(10) ? 128 : 4));
  if (random.once(2)) octets.fill(random.below(256));
  else for (let i = 0; i < octets.length; i++) octets[i] = random.below(256);
  return inserted(input, random.below(input.length + 1), octets);
};

const insertWord: Change = (input, random, { dictionary }) =>
  dictionary.length === 0 ? input : inserted(input, random.below(input.length + 1), random.of(dictionary));

const overwriteWord: Change = (input, random, { dictionary }) => {
  if (dictionary.length === 0) return input;
  const word = random.of(dictionary);
  if (word.length <= input.length) input.set(word, random.below(input.length - word.length + 1));
  return input;
};

/** Inserts a block of another input. */
const graft: Change = (input, random, { other }) => {
  const from = other();
  if (from.length === 0) return input;
  const { at, length } = blockOf(from, random);
  const block = from.subarray(at, at + length);
  const to = random.below(input.length + 1);
  return random.once(2)
    ? inserted(input, to, block)
    : joined(input.subarray(0, to), block, input.subarray(Math.min(input.length, to + length)));
};

/** The start of this input and the end of another. */
const splice: Change = (input, random, { other }) => {
  const from = other();
  return joined(
    input.subarray(0, random.below(input.length + 1)),
    from.subarray(random.below(from.length + 1)),
  );
};

const truncate: Change = (input, random) => input.slice(0, random.below(input.length + 1));

const CHANGES: readonly Change[] = [
  ...[flipBit, flipBit, setOctet, setOctet, addToOctet, setNumber, setNumber],
  ...[deleteBlock, repeatBlock, moveBlock, insertOctets, insertWord, insertWord, overwriteWord],
  ...[graft, splice, truncate],
];

function blockOf(input: Uint8Array, random: Random): { at: number; length: number } {
  const at = random.below(input.length);
  const max = Math.min(input.length - at, random.once(4) ? MAX_BLOCK : 16);
  return { at, length: 1 + random.below(max) };
}

function inserted(input: Uint8Array, at: number, block: Uint8Array): Uint8Array {
  return joined(input.subarray(0, at), block, input.subarray(at));
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
