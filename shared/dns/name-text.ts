/** Names in presentation form (RFC 1035 section 5.1) written as bytes, without a string between. */
import { FOLD } from './name.ts';

/** What a byte of a label looks like in text: itself in lower case, or 0 where it must be escaped. */
const PLAIN = FOLD.map((byte) => (byte > 0x20 && byte < 0x7f && byte !== 0x2e && byte !== 0x5c ? byte : 0));

/** Most bytes of the text of a name: all of it escaped. */
export const MAX_NAME_TEXT_BYTES = 4 * 255;

/**
 * Writes the name at `nameAt`, folded and without the final dot, as `nameToText()` would show it; returns the offset after it. The name is
 * uncompressed and valid.
 */
export function putNameText(out: Uint8Array, start: number, bytes: Uint8Array, nameAt: number): number {
  let at = start;
  for (let from = nameAt; bytes[from] !== 0;) {
    if (at !== start) out[at++] = 0x2e;
    const end = from + 1 + bytes[from]!;
    for (from++; from < end; from++) {
      const plain = PLAIN[bytes[from]!]!;
      if (plain !== 0) out[at++] = plain;
      else at = putEscaped(out, at, bytes[from]!);
    }
  }
  if (at === start) out[at++] = 0x2e;
  return at;
}

function putEscaped(out: Uint8Array, at: number, byte: number): number {
  out[at] = 0x5c;
  if (byte === 0x2e || byte === 0x5c) {
    out[at + 1] = byte;
    return at + 2;
  }
  out[at + 1] = 0x30 + Math.floor(byte / 100);
  out[at + 2] = 0x30 + (Math.floor(byte / 10) % 10);
  out[at + 3] = 0x30 + (byte % 10);
  return at + 4;
}
