/** Finds options in the RDATA of an OPT record (RFC 6891 section 6.1.2). The callers interpret the options. */
import { readU16 } from './wire.ts';

/** Code and length of an option, bytes. */
export const OPTION_HEAD_SIZE = 4;

/** Maximum number of options of one record. */
const MAX_OPTIONS = 64;

/** Value that is not an option code. */
export const NO_OPTION = -1;
/** Result if an option extends beyond the RDATA. */
export const BROKEN_OPTIONS = -2;

/**
 * Offset of the first option with this code between `at` and `end`, or `NO_OPTION`, or `BROKEN_OPTIONS`. Ignores
 * trailing bytes that are too few for an option.
 */
export function findOption(bytes: Uint8Array, at: number, end: number, code: number): number {
  let offset = at;
  while (offset + OPTION_HEAD_SIZE <= end) {
    const next = optionEnd(bytes, offset);
    if (next > end) return BROKEN_OPTIONS;
    if (readU16(bytes, offset) === code) return offset;
    offset = next;
  }
  return NO_OPTION;
}

/**
 * Whether the bytes from `at` to `end` are well-formed options, at most `MAX_OPTIONS` in number, because each reader
 * iterates over all of them.
 */
export function areOptions(bytes: Uint8Array, at: number, end: number): boolean {
  let offset = at;
  for (let left = MAX_OPTIONS; offset < end; left--) {
    if (left === 0 || offset + OPTION_HEAD_SIZE > end) return false;
    offset = optionEnd(bytes, offset);
  }
  return offset === end;
}

/** Offset of the first byte after the option at `at`. */
export function optionEnd(bytes: Uint8Array, at: number): number {
  return at + OPTION_HEAD_SIZE + readU16(bytes, at + 2);
}
