/** The Huffman code of HPACK (RFC 7541 section 5.2, appendix B), decoding only. */

/** Code length of each octet, then of EOS. The code is canonical, so the lengths define it. */
const CODE_LENGTHS = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28,
  28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7,
  8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19,
  13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13,
  28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21,
  22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23,
  22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25,
  25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
] as const;
const EOS = 256;
/** Maximum padding: the first bits of EOS, fewer than an octet (RFC 7541 section 5.2). */
const MAX_PADDING_BITS = 7;

/** Value for a missing child in the tree of codes. */
const NONE = 0;
/**
 * The tree: node n has its children at 2n and 2n + 1. A positive value is a node; a negative value is -1 - symbol. Node
 * 0 is the root.
 */
const TREE = makeTree();
/**
 * For each node that is reached from the root by ones only, the number of ones: if the input ends at such a node, these
 * bits are padding.
 */
const ONES = makeOnes();

/**
 * For each byte that starts with a complete code: the symbol and, in the low four bits, the code's length; 0 for all
 * other bytes.
 */
const SHORT = makeShort();

function makeTree(): Int16Array {
  const tree = new Int16Array(2 * (CODE_LENGTHS.length + 1));
  const symbols = CODE_LENGTHS.map((length, symbol) => ({ length, symbol })).sort(
    (left, right) => left.length - right.length || left.symbol - right.symbol,
  );
  let nodes = 1;
  let code = 0;
  let before = symbols[0]!.length;
  for (const { length, symbol } of symbols) {
    code *= 2 ** (length - before);
    before = length;
    let node = 0;
    for (let bit = length - 1; bit > 0; bit--) {
      const at = 2 * node + ((code >>> bit) & 1);
      if (tree[at] === NONE) tree[at] = nodes++;
      node = tree[at]!;
    }
    tree[2 * node + (code & 1)] = -1 - symbol;
    code++;
  }
  return tree;
}

function makeOnes(): Int8Array {
  const ones = new Int8Array(TREE.length / 2).fill(-1);
  let node = 0;
  for (let bits = 0; bits <= MAX_PADDING_BITS; bits++) {
    ones[node] = bits;
    node = TREE[2 * node + 1]!;
  }
  return ones;
}

function makeShort(): Int16Array {
  return Int16Array.from({ length: 256 }, (_, octet) => {
    let node = 0;
    for (let bits = 1; bits <= 8; bits++) {
      const next = TREE[2 * node + ((octet >>> (8 - bits)) & 1)]!;
      if (next < 0) return ((-1 - next) << 4) | bits;
      node = next;
    }
    return 0;
  });
}

/** Maximum number of bytes that `length` coded bytes can decode to: the shortest code has five bits. */
export function decodedSizeLimit(length: number): number {
  return Math.floor((length * 8) / 5);
}

/**
 * Decodes the bytes from `at` to `end` into `into` and returns their number, or -1 if the code is malformed. `into`
 * must have space for `decodedSizeLimit` bytes.
 */
export function decodeHuffman(bytes: Uint8Array, at: number, end: number, into: Uint8Array): number {
  const endBit = end * 8;
  let bit = at * 8;
  let size = 0;
  while (bit + 8 <= endBit) {
    const octet = bit >>> 3;
    const two = (bytes[octet]! << 8) | (octet + 1 < end ? bytes[octet + 1]! : 0);
    const short = SHORT[(two >>> (8 - (bit & 7))) & 0xff]!;
    if (short !== 0) {
      into[size++] = short >>> 4;
      bit += short & 15;
      continue;
    }
    let next = 0;
    // The code has more than eight bits; eight or more bits that form no complete code cannot be padding.
    while (next >= 0) {
      if (bit === endBit) return -1;
      next = TREE[2 * next + bitAt(bytes, bit++)]!;
    }
    if (next === -1 - EOS) return -1;
    into[size++] = -1 - next;
  }
  let node = 0;
  while (bit < endBit) {
    const next = TREE[2 * node + bitAt(bytes, bit++)]!;
    node = next < 0 ? 0 : next;
    if (next < 0) into[size++] = -1 - next;
  }
  return ONES[node]! < 0 ? -1 : size;
}

function bitAt(bytes: Uint8Array, bit: number): number {
  return (bytes[bit >>> 3]! >>> (7 - (bit & 7))) & 1;
}
