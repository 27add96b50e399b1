/** Numbers as byte planes: the lowest bytes of all, then the second ones, and so on. */

/*
 * Each type of array has a separate function, because one for all types was slow. A plane of zeros is not written,
 * because `planes` is zeroed.
 */

/** Writes the planes of the first `count` numbers to `planes`. */
export function toPlanes16(
  numbers: Uint16Array,
  count: number,
  planes = new Uint8Array(count * 2),
): Uint8Array {
  let all = 0;
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!;
    planes[i] = number;
    all |= number;
  }
  if (all > 0xff) for (let i = 0; i < count; i++) planes[count + i] = numbers[i]! >>> 8;
  return planes;
}

/** Writes the planes of the first `count` numbers to `planes`. */
export function toPlanes32(
  numbers: Uint32Array,
  count: number,
  planes = new Uint8Array(count * 4),
): Uint8Array {
  let all = 0;
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!;
    planes[i] = number;
    all |= number;
  }
  for (let plane = 1; plane < 4 && all >>> (plane * 8) !== 0; plane++) {
    const at = plane * count;
    const shift = plane * 8;
    for (let i = 0; i < count; i++) planes[at + i] = numbers[i]! >>> shift;
  }
  return planes;
}

/** The numbers that planes contain; `planes.length` is a multiple of `width`, their size in bytes. */
export function fromPlanes(planes: Uint8Array, width: 1 | 2 | 4): Uint32Array {
  // Each number is assembled in one step: which is three times as fast as plane by plane.
  const count = planes.length / width;
  const numbers = new Uint32Array(count);
  if (width === 1) numbers.set(planes);
  else if (width === 2) for (let i = 0; i < count; i++) numbers[i] = planes[i]! | (planes[count + i]! << 8);
  else
    for (let i = 0; i < count; i++)
      numbers[i] =
        planes[i]! |
        (planes[count + i]! << 8) |
        (planes[2 * count + i]! << 16) |
        (planes[3 * count + i]! << 24);
  return numbers;
}

/**
 * Writes the numbers of two planes to `places`, and returns the largest. Must be fast, because a search decodes every
 * row of the log.
 */
export function placesOfPlanes(planes: Uint8Array, places: Uint16Array): number {
  const count = places.length;
  let largest = 0;
  for (let i = 0; i < count; i++) {
    const place = planes[i]! | (planes[count + i]! << 8);
    places[i] = place;
    if (place > largest) largest = place;
  }
  return largest;
}

/**
 * Planes of the zigzag-encoded differences between successive u32 numbers, modulo 2^32; the first is the difference to
 * 0.
 */
export function toDeltaPlanes(
  numbers: Uint32Array,
  count: number,
  planes = new Uint8Array(count * 4),
): Uint8Array {
  let all = 0;
  for (let plane = 0; plane < 4 && (plane === 0 || all >>> (plane * 8) !== 0); plane++) {
    const at = plane * count;
    const shift = plane * 8;
    let last = 0;
    for (let i = 0; i < count; i++) {
      const number = numbers[i]!;
      const delta = (number - last) | 0;
      const zigzag = (delta << 1) ^ (delta >> 31);
      planes[at + i] = zigzag >>> shift;
      all |= zigzag;
      last = number;
    }
  }
  return planes;
}

/** The numbers from the planes that `toDeltaPlanes()` wrote. */
export function fromDeltaPlanes(planes: Uint8Array): Uint32Array {
  const numbers = fromPlanes(planes, 4);
  let last = 0;
  for (let i = 0; i < numbers.length; i++) {
    const zigzag = numbers[i]!;
    last = (last + ((zigzag >>> 1) ^ -(zigzag & 1))) >>> 0;
    numbers[i] = last;
  }
  return numbers;
}
