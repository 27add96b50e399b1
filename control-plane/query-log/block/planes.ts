/** Numbers as byte planes: the lowest bytes of all, then the second ones, and so on. */

/*
 * One function for each kind of array: one for all was slow for all. A plane of zeros is not written, since new memory is
 * zero.
 */

/** Planes of the first `count` numbers. */
export function toPlanes16(numbers: Uint16Array, count: number): Uint8Array {
  const planes = new Uint8Array(count * 2);
  let all = 0;
  for (let i = 0; i < count; i++) {
    const number = numbers[i]!;
    planes[i] = number;
    all |= number;
  }
  if (all > 0xff) for (let i = 0; i < count; i++) planes[count + i] = numbers[i]! >>> 8;
  return planes;
}

/** Planes of the first `count` numbers. */
export function toPlanes32(numbers: Uint32Array, count: number): Uint8Array {
  const planes = new Uint8Array(count * 4);
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

/** The numbers of planes; `planes.length` is a multiple of `width`. */
export function fromPlanes(planes: Uint8Array, width: 1 | 2 | 4): Uint32Array {
  // Each number is put together at once: three times as fast as plane by plane.
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

/** Planes of the zigzag differences of u32 numbers, modulo 2^32; the first is the difference to 0. */
export function toDeltaPlanes(numbers: Uint32Array, count: number): Uint8Array {
  const deltas = new Uint32Array(count);
  let last = 0;
  for (let i = 0; i < count; i++) {
    const delta = (numbers[i]! - last) | 0;
    deltas[i] = (delta << 1) ^ (delta >> 31);
    last = numbers[i]!;
  }
  return toPlanes32(deltas, count);
}

/** The numbers of `toDeltaPlanes()`. */
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
