/** Bytes that are read four at a time, at any position. The words are little-endian, as in the log rings. */

/** Memory that is accessible as bytes and as a `DataView`. */
export interface ViewedBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** The bytes, and a `DataView` of the same memory. */
export function viewed(bytes: Uint8Array): ViewedBytes {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/** The last `count` (1 to 3) bytes before `end`, as a word padded with zeros. */
export function lastWord({ bytes, view }: ViewedBytes, end: number, count: number): number {
  if (end >= 4) return view.getInt32(end - 4, true) >>> (32 - 8 * count);
  let word = 0;
  for (let i = 1; i <= count; i++) word = (word << 8) | bytes[end - i]!;
  return word;
}

/** Whether `length` bytes at two positions are equal. */
export function sameBytes(
  one: DataView,
  oneAt: number,
  other: DataView,
  otherAt: number,
  length: number,
): boolean {
  let i = 0;
  for (; i + 4 <= length; i += 4)
    if (one.getInt32(oneAt + i, true) !== other.getInt32(otherAt + i, true)) return false;
  for (; i < length; i++) if (one.getUint8(oneAt + i) !== other.getUint8(otherAt + i)) return false;
  return true;
}
