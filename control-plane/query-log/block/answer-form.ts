/**
 * Answer records in the form in which a block stores them: the smallest TTL is subtracted from each TTL, so that
 * answers that differ only in age share one entry.
 */
import { readU16, readU32, Record, skipName, writeU32 } from '../../../shared/dns/wire.ts';
import { sameBytes, type ViewedBytes } from './viewed-bytes.ts';

/** Forms in which an entry stores its records. */
export const AnswerForm = { TTLS_REDUCED: 0, AS_SENT: 1 } as const;

/** Maximum number of bytes of the answer records of a query. */
export const MAX_ANSWER_BYTES = 65_535;

/** Answer records converted to stored form; one object is reused for all queries. */
export class ReducedAnswers implements ViewedBytes {
  /** The records in stored form. */
  readonly bytes = new Uint8Array(MAX_ANSWER_BYTES);
  readonly view = new DataView(this.bytes.buffer);
  length = 0;
  /** In seconds; 0 for form AS_SENT. */
  smallestTtl = 0;
  form: number = AnswerForm.TTLS_REDUCED;

  /** Reads and converts the records at a position of `source`. */
  take({ bytes: source, view }: ViewedBytes, at: number, length: number): void {
    const { bytes } = this;
    const wholeEnd = length & ~3;
    for (let i = 0; i < wholeEnd; i += 4) this.view.setInt32(i, view.getInt32(at + i, true), true);
    for (let i = wholeEnd; i < length; i++) bytes[i] = source[at + i]!;
    this.length = length;
    this.smallestTtl = smallestTtl(this, length);
    this.form = this.smallestTtl < 0 ? AnswerForm.AS_SENT : AnswerForm.TTLS_REDUCED;
    if (this.form === AnswerForm.AS_SENT) this.smallestTtl = 0;
    else if (this.smallestTtl !== 0) addToTtls(bytes, length, -this.smallestTtl);
  }
}

/** Restores the form in which an entry was sent, in place. */
export function restoreTtls(records: Uint8Array, form: number, ttlSecs: number): void {
  if (form === AnswerForm.TTLS_REDUCED) addToTtls(records, records.length, ttlSecs);
}

/**
 * Seconds by which every TTL of the records at a position of `source` exceeds the TTL in an entry of form TTLS_REDUCED;
 * -1 if these differences are not all equal, or if the records differ in anything else.
 */
export function secsBeyond(
  entry: DataView,
  entryAt: number,
  source: ViewedBytes,
  sourceAt: number,
  length: number,
): number {
  const { bytes, view } = source;
  const end = sourceAt + length;
  const shift = entryAt - sourceAt;
  let seconds = -1;
  for (let at = sourceAt; at < end;) {
    const head = skipName(bytes, at, end);
    if (head < 0 || head + Record.RDATA > end) return -1;
    const ttl = head + Record.TTL;
    const next = head + Record.RDATA + view.getUint16(head + Record.RDLENGTH);
    if (next > end) return -1;
    const rest = ttl + 4;
    if (!sameBytes(entry, at + shift, view, at, ttl - at)) return -1;
    if (!sameBytes(entry, rest + shift, view, rest, next - rest)) return -1;
    const beyond = view.getUint32(ttl) - entry.getUint32(ttl + shift);
    if (beyond < 0 || (seconds >= 0 && beyond !== seconds)) return -1;
    seconds = beyond;
    at = next;
  }
  return seconds;
}

/** The smallest TTL of complete records that fill the bytes; -1 if they do not. */
function smallestTtl({ bytes, view }: ViewedBytes, length: number): number {
  let smallest = 0xffff_ffff;
  let at = 0;
  while (at < length) {
    const head = skipName(bytes, at, length);
    if (head < 0 || head + Record.RDATA > length) return -1;
    const ttl = view.getUint32(head + Record.TTL);
    if (ttl < smallest) smallest = ttl;
    at = head + Record.RDATA + view.getUint16(head + Record.RDLENGTH);
  }
  if (at > length) return -1;
  return at === 0 ? 0 : smallest;
}

function addToTtls(bytes: Uint8Array, length: number, seconds: number): void {
  let at = 0;
  while (at < length) {
    const head = skipName(bytes, at, length);
    if (head < 0 || head + Record.RDATA > length) return;
    writeU32(bytes, head + Record.TTL, (readU32(bytes, head + Record.TTL) + seconds) >>> 0);
    at = head + Record.RDATA + readU16(bytes, head + Record.RDLENGTH);
  }
}
