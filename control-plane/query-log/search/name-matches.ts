/** Finds the names that a filter matches, among the names of a block or in a table of names that blocks share. Pure. */
import { domainToUnicode } from 'node:url';
import type { KeyTable } from '../top-lists/key-table.ts';
import { matchesWildcards, type QueryFilter } from './query-conditions.ts';

const IDN_PREFIX = Buffer.from('xn--');

/** Concatenated texts. */
interface Texts {
  readonly texts: Buffer;
  /** Start of each text; one entry more than texts. */
  readonly starts: Uint32Array;
  readonly count: number;
}

/** The name filter of one request. */
export class NameMatches {
  private readonly wanted: Part | null;
  private readonly excluded: Part | null;
  private readonly pattern: ((name: string) => boolean) | null;
  private book: KeyTable | undefined;
  private ofBook = new Uint8Array(0);
  private known = 0;

  private constructor({ domain, domainPattern, not }: QueryFilter) {
    this.wanted = partOf(domain);
    this.excluded = partOf(not?.domain);
    this.pattern = domainPattern === undefined ? null : matchesWildcards(domainPattern);
  }

  /** Null if the filter matches all names. */
  static of(filter: QueryFilter): NameMatches | null {
    const { domain, domainPattern, not } = filter;
    if (domain === undefined && domainPattern === undefined && not?.domain === undefined) return null;
    return new NameMatches(filter);
  }

  /** Whether none of these names can match; useful because most blocks do not contain a rare name. */
  isWithout(texts: Buffer): boolean {
    return this.wanted !== null && !texts.includes(this.wanted.bytes);
  }

  /** 1 for each name that matches. Each text must end with a line feed. */
  among(texts: Buffer, starts: Uint32Array): Uint8Array {
    const count = starts.length - 1;
    const matches = new Uint8Array(count);
    this.mark({ texts, starts, count }, 0, matches, 1);
    return matches;
  }

  /** 1 for each of these entries of a table that matches. The results are cached for the next block. */
  amongEntries(book: KeyTable, entries: Uint32Array): Uint8Array {
    if (book !== this.book) [this.book, this.known] = [book, 0];
    if (this.known < book.size) {
      const all = new Uint8Array(book.tags.length);
      all.set(this.ofBook.subarray(0, this.known));
      // There may be megabytes of unused space after the last text.
      const texts = Buffer.from(book.bytes.buffer, 0, book.starts[book.size]);
      this.mark({ texts, starts: book.starts, count: book.size }, this.known, all, 0);
      [this.ofBook, this.known] = [all, book.size];
    }
    const matches = new Uint8Array(entries.length);
    for (let i = 0; i < entries.length; i++) matches[i] = this.ofBook[entries[i]!]!;
    return matches;
  }

  private mark(all: Texts, from: number, matches: Uint8Array, gap: number): void {
    const { texts, starts, count } = all;
    const { wanted, excluded, pattern } = this;
    const holds = ({ unicode }: Part, place: number): boolean =>
      unicode === null ||
      toUnicode(texts.toString('latin1', starts[place], starts[place + 1]! - gap)).includes(unicode);
    if (wanted === null) matches.fill(1, from, count);
    else forEachMatch(all, from, wanted.bytes, (place) => (matches[place] = Number(holds(wanted, place))));
    if (excluded !== null)
      forEachMatch(all, from, excluded.bytes, (place) => {
        if (holds(excluded, place)) matches[place] = 0;
      });
    if (pattern === null) return;
    for (let place = from; place < count; place++)
      if (matches[place] === 1 && !pattern(texts.toString('latin1', starts[place], starts[place + 1]! - gap)))
        matches[place] = 0;
  }
}

/** A part of the name for which the filter searches. */
interface Part {
  readonly bytes: Buffer;
  /**
   * Text to find in the Unicode form of names; `bytes` is then only the A-label prefix, which every IDN contains. Null
   * = only `bytes` is searched for.
   */
  readonly unicode: string | null;
}

function partOf(text: string | undefined): Part | null {
  if (text === undefined) return null;
  // A line feed separates names, so no name may match one.
  const folded = text.normalize('NFC').toLowerCase().replaceAll('\n', '\0');
  const isAscii = Buffer.byteLength(folded) === folded.length;
  return isAscii ? { bytes: Buffer.from(folded), unicode: null } : { bytes: IDN_PREFIX, unicode: folded };
}

/** A name in the form that users write: with its A-labels decoded (RFC 5890); malformed labels are unchanged. */
function toUnicode(name: string): string {
  return name
    .split('.')
    .map((label) => (label.startsWith('xn--') ? domainToUnicode(label) || label : label))
    .join('.');
}

/** Calls `take` for each text from `from` on that contains the part; all texts are searched as one buffer. */
function forEachMatch(
  { texts, starts, count }: Texts,
  from: number,
  part: Buffer,
  take: (place: number) => void,
): void {
  let place = from;
  let at = from < count ? texts.indexOf(part, starts[from]) : -1;
  while (at >= 0 && at < starts[count]!) {
    while (starts[place + 1]! <= at) place++;
    const end = starts[place + 1]!;
    // The texts have no separator, so a match may begin in one text and end in the next.
    const isWithin = at + part.length <= end;
    if (isWithin) take(place);
    at = texts.indexOf(part, isWithin ? end : at + 1);
  }
}
