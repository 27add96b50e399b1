/**
 * Answer records in the form in which a block stores them: each TTL less the smallest, so that answers of which only the
 * age differs are one entry.
 */
import { readU16, readU32, Record, skipName, skipRecord } from '../../../shared/dns/wire.ts';

/** How the records of an entry are stored. */
export const AnswerForm = { TTLS_REDUCED: 0, AS_SENT: 1 } as const;

/** Most bytes of the answer records of a query. */
export const MAX_ANSWER_BYTES = 65_535;

/** Answer records being brought into stored form; one object serves all queries. */
export class ReducedAnswers {
  /** The records in stored form. */
  readonly bytes = new Uint8Array(MAX_ANSWER_BYTES);
  length = 0;
  /** Seconds; 0 for form AS_SENT. */
  smallestTtl = 0;
  form: number = AnswerForm.TTLS_REDUCED;

  /** Takes the records at a place of `source`. */
  take(source: Uint8Array, at: number, length: number): void {
    const { bytes } = this;
    for (let i = 0; i < length; i++) bytes[i] = source[at + i]!; // Short: `set()` costs more than it saves.
    this.length = length;
    this.smallestTtl = smallestTtl(bytes, length);
    this.form = this.smallestTtl < 0 ? AnswerForm.AS_SENT : AnswerForm.TTLS_REDUCED;
    if (this.form === AnswerForm.AS_SENT) this.smallestTtl = 0;
    else addToTtls(bytes, length, -this.smallestTtl);
  }
}

/** Brings an entry back into the form in which it was sent; in place. */
export function restoreTtls(records: Uint8Array, form: number, ttlSecs: number): void {
  if (form === AnswerForm.TTLS_REDUCED) addToTtls(records, records.length, ttlSecs);
}

/**
 * Seconds by which the records at a place of `source` outlive an entry of form TTLS_REDUCED that is otherwise the same;
 * -1 if they differ.
 */
export function secsBeyond(
  entry: Uint8Array,
  entryAt: number,
  source: Uint8Array,
  sourceAt: number,
  length: number,
): number {
  const end = sourceAt + length;
  const shift = entryAt - sourceAt;
  let seconds = -1;
  for (let at = sourceAt; at < end;) {
    const head = skipName(source, at, end);
    const next = skipRecord(source, at, end);
    if (head < 0 || next < 0) return -1;
    const ttl = head + Record.TTL;
    for (let i = at; i < ttl; i++) if (entry[i + shift] !== source[i]) return -1;
    for (let i = ttl + 4; i < next; i++) if (entry[i + shift] !== source[i]) return -1;
    const beyond = readU32(source, ttl) - readU32(entry, ttl + shift);
    if (beyond < 0 || (seconds >= 0 && beyond !== seconds)) return -1;
    seconds = beyond;
    at = next;
  }
  return seconds;
}

/** The smallest TTL of whole records that fill the bytes; -1 if they do not. */
function smallestTtl(bytes: Uint8Array, length: number): number {
  let smallest = 0xffff_ffff;
  let at = 0;
  while (at < length) {
    const head = skipName(bytes, at, length);
    const next = skipRecord(bytes, at, length);
    if (head < 0 || next < 0) return -1;
    const ttl = readU32(bytes, head + Record.TTL);
    if (ttl < smallest) smallest = ttl;
    at = next;
  }
  return at === 0 ? 0 : smallest;
}

function addToTtls(bytes: Uint8Array, length: number, seconds: number): void {
  let at = 0;
  while (at < length) {
    const head = skipName(bytes, at, length);
    if (head < 0 || head + Record.RDATA > length) return;
    const ttl = (readU32(bytes, head + Record.TTL) + seconds) >>> 0;
    bytes[head + Record.TTL] = ttl >>> 24;
    bytes[head + Record.TTL + 1] = ttl >>> 16;
    bytes[head + Record.TTL + 2] = ttl >>> 8;
    bytes[head + Record.TTL + 3] = ttl;
    at = head + Record.RDATA + readU16(bytes, head + Record.RDLENGTH);
  }
}
