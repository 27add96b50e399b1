/**
 * The filters of the query log over one block. Pure. A filter looks at dictionaries first, so that a block without a
 * match costs little, and decodes only the columns that it needs.
 */
import type { DnssecStatusName, ProtocolName, QueryStatusName } from '../../../shared/query-log.ts';
import { rrTypeCode } from '../../../shared/dns/iana.ts';
import { networkContains, networkFromText } from '../../../shared/net/cidr.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import type { BlockNames, BlockReader } from '../block/block-reader.ts';
import type { HeadClient, HeadOutcome } from '../block/block-layout.ts';
import { rcodeFromName } from './rcode-names.ts';

/** Conditions on a query; an absent one matches everything. */
export interface QueryConditions {
  /** Part of the queried name, any case. */
  readonly domain?: string | undefined;
  /** Address, or CIDR of many. */
  readonly client?: string | undefined;
  readonly group_id?: number | undefined;
  /** `A`, `TYPE65280`. */
  readonly type?: string | undefined;
  readonly status?: QueryStatusName | undefined;
  /** `NXDOMAIN`, `RCODE17`. */
  readonly rcode?: string | undefined;
  readonly protocol?: ProtocolName | undefined;
  readonly upstream?: string | undefined;
  readonly dnssec?: DnssecStatusName | undefined;
  /** One of these. */
  readonly statuses?: readonly QueryStatusName[] | undefined;
  readonly upstreams?: readonly string[] | undefined;
  /** All of a name or address, with `*` for any part of it; of addresses one of several. */
  readonly domainPattern?: string | undefined;
  readonly clientPatterns?: readonly string[] | undefined;
}

/** Which queries: all conditions hold, and none of the excluded ones. */
export interface QueryFilter extends QueryConditions {
  readonly not?: QueryConditions | undefined;
}

/** Microseconds since 1970, end exclusive. */
export interface TimeSpan {
  readonly fromUs: number;
  readonly toUs: number;
}

type Test<T> = ((value: T) => boolean) | null;

/** A filter, ready to be applied to many blocks. */
export class BlockFilter {
  private readonly client: Test<HeadClient>;
  private readonly outcome: Test<HeadOutcome>;
  private readonly domain: NamePart | null;

  constructor(filter: QueryFilter) {
    const { not = {} } = filter;
    this.client = combine(clientTests(filter), clientTests(not));
    this.outcome = combine(outcomeTests(filter), outcomeTests(not));
    this.domain = namePart(filter, not);
  }

  /** Whether every query matches. */
  get matchesAll(): boolean {
    return this.client === null && this.outcome === null && this.domain === null;
  }

  /** The pieces besides the head that `count()` needs of a block that lies wholly within the span. */
  get piecesToCount(): readonly ('names' | 'queries')[] {
    const conditions = [this.client, this.outcome, this.domain].filter((test) => test !== null).length;
    if (conditions > 1) return this.domain === null ? ['queries'] : ['names', 'queries'];
    return this.domain === null ? [] : ['names'];
  }

  /** Number of matching queries within the span. */
  count(block: BlockReader, span: TimeSpan): number {
    const isWhole = block.head.first_us >= span.fromUs && block.head.last_us < span.toUs;
    if (isWhole) {
      if (this.matchesAll) return block.head.rows;
      if (this.outcome === null && this.domain === null) return sumOf(block.head.clients, this.client, 2);
      if (this.client === null && this.domain === null) return sumOf(block.head.outcomes, this.outcome, 7);
      if (this.client === null && this.outcome === null) return this.countNames(block);
    }
    return this.rows(block, span).length;
  }

  /** Places of the matching queries within the span, in the order of the block. */
  rows(block: BlockReader, span: TimeSpan): number[] {
    const columns = this.columns(block);
    if (columns === null) return [];
    const isWhole = block.head.first_us >= span.fromUs && block.head.last_us < span.toUs;
    const found = isWhole ? allRows(block.head.rows) : rowsWithin(block.times(), span);
    return columns.reduce(keepMatching, found);
  }

  /** Null if no query can match. */
  private columns(block: BlockReader): Column[] | null {
    const { head } = block;
    const columns: { places: () => Uint32Array; matches: Uint8Array }[] = [];
    const { client, outcome, domain } = this;
    if (client !== null)
      columns.push({ places: () => block.clientOf(), matches: matchesOf(head.clients, client) });
    if (outcome !== null)
      columns.push({ places: () => block.outcomeOf(), matches: matchesOf(head.outcomes, outcome) });
    if (columns.some(({ matches }) => !matches.includes(1))) return null;
    // Most blocks do not have a rare name, and then nothing else of them is needed.
    if (domain !== null && isWithout(block, domain.wanted)) return null;
    if (domain !== null)
      columns.push({ places: () => block.nameOf(), matches: this.nameMatches(block.nameCounts()) });
    if (columns.some(({ matches }) => !matches.includes(1))) return null;
    return columns.map(({ places, matches }) => ({ places: places(), matches }));
  }

  /** 1 for each name that matches. */
  private nameMatches({ texts, starts }: Pick<BlockNames, 'texts' | 'starts'>): Uint8Array {
    const { wanted, excluded, pattern } = this.domain!;
    const matches = new Uint8Array(starts.length - 1);
    if (wanted === null) matches.fill(1);
    else forEachMatch(texts, starts, wanted, (place) => (matches[place] = 1));
    if (excluded !== null) forEachMatch(texts, starts, excluded, (place) => (matches[place] = 0));
    if (pattern === null) return matches;
    for (let place = 0; place < matches.length; place++)
      if (matches[place] === 1 && !pattern(texts.toString('latin1', starts[place], starts[place + 1]! - 1)))
        matches[place] = 0;
    return matches;
  }

  private countNames(block: BlockReader): number {
    if (isWithout(block, this.domain!.wanted)) return 0;
    const names = block.nameCounts();
    const matches = this.nameMatches(names);
    let sum = 0;
    for (let place = 0; place < matches.length; place++)
      if (matches[place] === 1) sum += names.counts[place]!;
    return sum;
  }
}

/** A column: the place of each row in a dictionary, and 1 for each place that matches. */
interface Column {
  readonly places: Uint32Array;
  readonly matches: Uint8Array;
}

function isWithout(block: BlockReader, part: Buffer | null): boolean {
  return part !== null && !block.nameTexts().includes(part);
}

function allRows(count: number): number[] {
  const rows = new Array<number>(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

function rowsWithin(times: Float64Array, { fromUs, toUs }: TimeSpan): number[] {
  const rows: number[] = [];
  for (let row = 0; row < times.length; row++) {
    const us = times[row]!;
    if (us >= fromUs && us < toUs) rows.push(row);
  }
  return rows;
}

function keepMatching(rows: number[], { places, matches }: Column): number[] {
  const kept: number[] = [];
  for (const row of rows) if (matches[places[row]!] === 1) kept.push(row);
  return kept;
}

/** Parts of names as bytes; null = no condition. */
interface NamePart {
  readonly wanted: Buffer | null;
  readonly excluded: Buffer | null;
  readonly pattern: ((name: string) => boolean) | null;
}

function namePart(
  { domain: wanted, domainPattern }: QueryConditions,
  { domain: excluded }: QueryConditions,
): NamePart | null {
  if (wanted === undefined && excluded === undefined && domainPattern === undefined) return null;
  const pattern = domainPattern === undefined ? null : matchesWildcards(domainPattern);
  const bytes = (text: string | undefined): Buffer | null =>
    // A line feed stands between names and in none.
    text === undefined ? null : Buffer.from(text.toLowerCase().replaceAll('\n', '\0'));
  return { wanted: bytes(wanted), excluded: bytes(excluded), pattern };
}

/** Calls `take` once for each name with the part; the search runs over all texts at once. */
function forEachMatch(texts: Buffer, starts: Uint32Array, part: Buffer, take: (place: number) => void): void {
  let place = 0;
  for (let at = texts.indexOf(part); at >= 0; at = texts.indexOf(part, starts[place])) {
    while (starts[place + 1]! <= at) place++;
    take(place++);
    if (place === starts.length - 1) return;
  }
}

function sumOf<T extends readonly unknown[]>(entries: readonly T[], test: Test<T>, at: number): number {
  return entries.reduce((sum, entry) => (test!(entry) ? sum + (entry[at] as number) : sum), 0);
}

function matchesOf<T>(entries: readonly T[], test: (entry: T) => boolean): Uint8Array {
  return Uint8Array.from(entries, (entry) => (test(entry) ? 1 : 0));
}

/** Every one of `wanted` and none of `excluded`; null if there are none. */
function combine<T>(
  wanted: readonly ((value: T) => boolean)[],
  excluded: readonly ((value: T) => boolean)[],
): Test<T> {
  if (wanted.length === 0 && excluded.length === 0) return null;
  return (value) => wanted.every((test) => test(value)) && !excluded.some((test) => test(value));
}

function clientTests({
  client,
  group_id,
  clientPatterns,
}: QueryConditions): ((client: HeadClient) => boolean)[] {
  const tests: ((client: HeadClient) => boolean)[] = [];
  if (group_id !== undefined) tests.push(([, groupId]) => groupId === group_id);
  if (client !== undefined) tests.push(clientWithin(client));
  if (clientPatterns !== undefined) {
    const patterns = clientPatterns.map(matchesWildcards);
    tests.push(([address]) => patterns.some((matches) => matches(address)));
  }
  return tests;
}

function clientWithin(networkText: string): (client: HeadClient) => boolean {
  const network = networkFromText(networkText);
  return ([address]) => {
    const bytes = addressFromText(address);
    return bytes !== null && network !== null && networkContains(network, bytes);
  };
}

function outcomeTests(conditions: QueryConditions): ((outcome: HeadOutcome) => boolean)[] {
  const { type, status, rcode, protocol, dnssec, upstream } = conditions;
  const expected: [at: number, value: unknown][] = [
    [0, type === undefined ? undefined : (rrTypeCode(type) ?? null)],
    [1, status],
    [2, rcode === undefined ? undefined : rcodeFromName(rcode)],
    [3, protocol],
    [4, dnssec],
    [6, upstream],
  ];
  const { statuses, upstreams } = conditions;
  const oneOf: ((outcome: HeadOutcome) => boolean)[] = [];
  if (statuses !== undefined) oneOf.push((outcome) => statuses.includes(outcome[1]));
  if (upstreams !== undefined) oneOf.push((outcome) => outcome[6] !== null && upstreams.includes(outcome[6]));
  return oneOf.concat(expectations(expected));
}

function expectations(
  expected: readonly (readonly [at: number, value: unknown])[],
): ((outcome: HeadOutcome) => boolean)[] {
  return expected
    .filter(([, value]) => value !== undefined)
    .map(
      ([at, value]) =>
        (outcome) =>
          outcome[at] === value,
    );
}

/** Compares all of a text, in any case, with one in which each `*` stands for any part. Linear in the text's length. */
export function matchesWildcards(pattern: string): (text: string) => boolean {
  const [first = '', ...parts] = pattern.toLowerCase().split('*');
  const last = parts.pop();
  if (last === undefined) return (text) => text.toLowerCase() === first;
  return (text) => {
    const folded = text.toLowerCase();
    if (!folded.startsWith(first) || !folded.endsWith(last)) return false;
    let at = first.length;
    for (const part of parts) {
      const found = folded.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= folded.length - last.length;
  };
}
