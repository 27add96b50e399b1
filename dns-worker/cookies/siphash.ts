/**
 * SipHash-2-4 (Aumasson and Bernstein, 2012) with a 64-bit result, computed on 32-bit halves because 64-bit integers
 * would allocate. The state is eight words, low half before high half. Nothing allocates.
 */

const V0 = 0;
const V1 = 2;
const V2 = 4;
const V3 = 6;
/** The constants of the algorithm: the text "somepseudorandomlygeneratedbytes", low half of each word first. */
const INITIAL = Int32Array.of(
  0x70736575,
  0x736f6d65,
  0x6e646f6d,
  0x646f7261,
  0x6e657261,
  0x6c796765,
  0x79746573,
  0x74656462,
);
const COMPRESSION_ROUNDS = 2;
const FINALIZATION_ROUNDS = 4;

const state = new Int32Array(8);

/**
 * Hashes the first `length` bytes of `message`. The bytes after them up to the next multiple of 8 must exist and be
 * zero; if `length` is a multiple of 8, eight more zero bytes must follow. `key` has four words at `keyAt`. Words are
 * little-endian, the byte order of every supported machine; `into` gets the low and the high half of the result.
 */
export function sipHash(
  key: Int32Array,
  keyAt: number,
  message: Int32Array,
  length: number,
  into: Int32Array,
): void {
  for (let i = 0; i < 8; i++) state[i] = INITIAL[i]! ^ key[keyAt + (i & 3)]!;
  const last = (length >>> 3) << 1;
  for (let word = 0; word < last; word += 2) compress(message[word]!, message[word + 1]!);
  compress(message[last]!, message[last + 1]! | (length << 24));
  state[V2] = state[V2]! ^ 0xff;
  for (let i = 0; i < FINALIZATION_ROUNDS; i++) round();
  into[0] = state[V0]! ^ state[V1]! ^ state[V2] ^ state[V3]!;
  into[1] = state[V0 + 1]! ^ state[V1 + 1]! ^ state[V2 + 1]! ^ state[V3 + 1]!;
}

function compress(low: number, high: number): void {
  state[V3] = state[V3]! ^ low;
  state[V3 + 1] = state[V3 + 1]! ^ high;
  for (let i = 0; i < COMPRESSION_ROUNDS; i++) round();
  state[V0] = state[V0]! ^ low;
  state[V0 + 1] = state[V0 + 1]! ^ high;
}

function round(): void {
  addTo(V0, V1);
  rotate(V1, 13);
  xorTo(V1, V0);
  swapHalves(V0);
  addTo(V2, V3);
  rotate(V3, 16);
  xorTo(V3, V2);
  addTo(V0, V3);
  rotate(V3, 21);
  xorTo(V3, V0);
  addTo(V2, V1);
  rotate(V1, 17);
  xorTo(V1, V2);
  swapHalves(V2);
}

/** Adds a 64-bit word of the state to another. */
function addTo(to: number, from: number): void {
  const low = (state[to]! >>> 0) + (state[from]! >>> 0);
  state[to] = low;
  state[to + 1] = state[to + 1]! + state[from + 1]! + (low > 0xffff_ffff ? 1 : 0);
}

function xorTo(to: number, from: number): void {
  state[to] = state[to]! ^ state[from]!;
  state[to + 1] = state[to + 1]! ^ state[from + 1]!;
}

/** Rotates a word of the state left by less than 32 bits. */
function rotate(at: number, bits: number): void {
  const low = state[at]!;
  const high = state[at + 1]!;
  state[at] = (low << bits) | (high >>> (32 - bits));
  state[at + 1] = (high << bits) | (low >>> (32 - bits));
}

/** Rotates a word of the state by 32 bits. */
function swapHalves(at: number): void {
  const low = state[at]!;
  state[at] = state[at + 1]!;
  state[at + 1] = low;
}
