/**
 * Applies the filters of the query log to one block. Pure. A filter first checks the dictionaries of a block, so that a
 * block without a match costs little, and then decodes only the columns that it needs.
 */
import type { BlockReader } from '../block/block-reader.ts';
import {
  type BlockHead,
  type HeadClient,
  type HeadOutcome,
  type HeadRule,
  NameClass,
  nameClassOf,
} from '../block/block-layout.ts';
import { isBlockedStatus, QueryStatus } from '../../../shared/query-log.ts';
import type { KnownNames } from '../top-lists/name-book.ts';
import { NameMatches } from './name-matches.ts';
import { clientTest, outcomeTest, type QueryFilter, ruleTest, type Test } from './query-conditions.ts';
import type { Piece } from './stored-block.ts';

/** Microseconds since 1970, end exclusive. */
export interface TimeSpan {
  readonly fromUs: number;
  readonly toUs: number;
}

/** Names of a block; `matches` has a 1 for each name that matches. */
interface MatchedNames {
  readonly counts: Uint16Array | Uint32Array;
  /** `NameClass` of each name. */
  readonly classes: Uint8Array;
  readonly matches: Uint8Array;
}

/** A column of a block: for each row an index into a dictionary, and for each index a 1 if the entry matches. */
interface Column {
  readonly places: Uint16Array;
  readonly matches: Uint8Array;
}

/** A filter, ready to be applied to many blocks. */
export class BlockFilter {
  private readonly client: Test<HeadClient>;
  private readonly outcome: Test<HeadOutcome>;
  private readonly domain: NameMatches | null;
  private readonly rule: Test<HeadRule | null>;

  constructor(filter: QueryFilter) {
    this.client = clientTest(filter);
    this.outcome = outcomeTest(filter);
    this.domain = NameMatches.of(filter);
    this.rule = ruleTest(filter);
  }

  /** Whether every query matches. */
  get matchesAll(): boolean {
    return this.client === null && this.outcome === null && this.domain === null && this.rule === null;
  }

  /** Whether `countByHead()` may need the names of a block. */
  get needsNames(): boolean {
    return this.domain !== null;
  }

  /** The pieces, in addition to the head, that `count()` needs for a block whose time is completely within the span. */
  piecesToCount(hasNames = false): readonly Piece[] {
    if (this.rule !== null) return this.piecesToSearch(hasNames).filter((piece) => piece !== 'times');
    const pieces: Piece[] = this.domain === null || hasNames ? [] : ['names'];
    const conditions = [this.client, this.outcome, this.domain].filter((test) => test !== null).length;
    if (conditions < 2) return pieces;
    if (this.domain !== null) pieces.push('nameOf');
    if (this.client !== null) pieces.push('clientOf');
    if (this.outcome !== null) pieces.push('outcomeOf');
    return pieces;
  }

  /** The pieces, in addition to the head, that `rows()` needs for any block. */
  piecesToSearch(hasNames = false): readonly Piece[] {
    const pieces: Piece[] = ['times'];
    // Names that are cached in memory do not include the rules, which the block stores with its names.
    if (this.rule !== null || (this.domain !== null && !hasNames)) pieces.push('names');
    if (this.domain !== null || this.rule !== null) pieces.push('nameOf');
    if (this.client !== null) pieces.push('clientOf');
    if (this.outcome !== null) pieces.push('outcomeOf');
    return pieces;
  }

  /** Number of matching queries in the whole block if its dictionaries suffice; null if the rows must be counted. */
  countByHead(head: BlockHead, names: KnownNames | undefined): number | null {
    const known = this.countWithoutNames(head);
    if (known === 0 || !this.mayHaveRule(head)) return 0;
    if (this.rule !== null) return null;
    if (this.domain === null) return known;
    return names === undefined ? null : this.countByNames(head, this.matched(names));
  }

  /** Number of matching queries within the span; `names` are the cached names of the block, if any. */
  count(block: BlockReader, span: TimeSpan, names?: KnownNames): number {
    if (isWhole(block, span)) {
      const known = this.countByHead(block.head, names);
      if (known !== null) return known;
      if (names === undefined && this.domain !== null && this.rule === null) {
        const counted = this.countByStoredNames(block, this.domain);
        if (counted !== null) return counted;
      }
    }
    const columns = this.columns(block, names);
    if (columns === null) return 0;
    return isWhole(block, span)
      ? countMatching(columns, block.head.rows)
      : rowsWithin(block.times(), span).filter((row) => matchesEach(columns, row)).length;
  }

  /** Indexes of the matching queries within the span, in the order of the block. */
  rows(block: BlockReader, span: TimeSpan, names?: KnownNames, client = this.client): number[] {
    const columns = this.columns(block, names, client);
    if (columns === null) return [];
    if (!isWhole(block, span)) return columns.reduce(keepMatching, rowsWithin(block.times(), span));
    const [first, ...others] = columns;
    const found = first === undefined ? allRows(block.head.rows) : matchingRows(first);
    return others.reduce(keepMatching, found);
  }

  /**
   * Number of repeats of the rows within the span, by index of the repeats' client; null if there are none. Conditions
   * on clients apply to the clients of the repeats, all other conditions to the rows. Takes the same arguments as
   * `rows()`.
   */
  repeatsByClient(block: BlockReader, span: TimeSpan, names?: KnownNames): Uint32Array | null {
    const { clients, repeats } = block.head;
    if (repeats === null) return null;
    const counts = new Uint32Array(clients.length);
    const matches = matchesOf(clients, this.client);
    const isOfRow = this.markRows(block, span, names);
    for (let entry = 0; entry < repeats.rows.length; entry++) {
      const client = repeats.clients[entry]!;
      if (matches[client] === 1 && isOfRow[repeats.rows[entry]!] === 1)
        counts[client]! += repeats.queries[entry]!;
    }
    return counts;
  }

  /** 1 for each row that matches, whatever its client. */
  private markRows(block: BlockReader, span: TimeSpan, names: KnownNames | undefined): Uint8Array {
    const marks = new Uint8Array(block.head.rows);
    for (const row of this.rows(block, span, names, null)) marks[row] = 1;
    return marks;
  }

  /**
   * Number of matching queries from the dictionaries of the head; null if the rows must be counted. With a condition on
   * names, only the result 0 is reliable.
   */
  private countWithoutNames({ rows, clients, outcomes }: BlockHead): number | null {
    const clientMatches = matchesOf(clients, this.client);
    const outcomeMatches = matchesOf(outcomes, this.outcome);
    if (!clientMatches.includes(1) || !outcomeMatches.includes(1)) return 0;
    const areAllClients = !clientMatches.includes(0);
    const areAllOutcomes = !outcomeMatches.includes(0);
    if (areAllClients && areAllOutcomes) return rows;
    if (areAllClients) return sumOf(outcomes, outcomeMatches, 7);
    const queries = sumOf(clients, clientMatches, 2);
    if (areAllOutcomes) return queries;
    const blocked = sumOf(clients, clientMatches, 3);
    const wanted = flagWanted(outcomes, outcomeMatches, ([, status]) => isBlockedStatus(QueryStatus[status]));
    if (wanted === null) return null;
    return wanted ? blocked : queries - blocked;
  }

  /** Number of matching queries from the counts of the names; null if the rows must be counted. */
  private countByNames(head: BlockHead, { counts, classes, matches }: MatchedNames): number | null {
    if (!matches.includes(1)) return 0;
    if (matchesOf(head.clients, this.client).includes(0)) return null;
    const wanted = classesWanted(head.outcomes, matchesOf(head.outcomes, this.outcome));
    if (wanted === null) return null;
    let sum = 0;
    for (let name = 0; name < matches.length; name++)
      if (matches[name] === 1 && wanted[classes[name]!] === 1) sum += counts[name]!;
    return sum;
  }

  private countByStoredNames(block: BlockReader, domain: NameMatches): number | null {
    const texts = block.nameTexts();
    if (domain.isWithout(texts)) return 0;
    const { starts, counts, classes } = block.nameCounts();
    return this.countByNames(block.head, { counts, classes, matches: domain.among(texts, starts) });
  }

  private matched({ book, places, counts, classes }: KnownNames): MatchedNames {
    return { counts, classes, matches: this.domain!.amongEntries(book, places) };
  }

  /** The columns on which conditions apply; null if no query can match. */
  private columns(block: BlockReader, names: KnownNames | undefined, client = this.client): Column[] | null {
    const { head } = block;
    const columns: { places: () => Uint16Array; matches: Uint8Array }[] = [];
    const { outcome } = this;
    if (client !== null)
      columns.push({ places: () => block.clientOf(), matches: matchesOf(head.clients, client) });
    if (outcome !== null)
      columns.push({ places: () => block.outcomeOf(), matches: matchesOf(head.outcomes, outcome) });
    if (columns.some(({ matches }) => !matches.includes(1)) || !this.mayHaveRule(head)) return null;
    const matches = this.nameMatches(block, names);
    if (matches !== null) columns.push({ places: () => block.nameOf(), matches });
    if (matches?.includes(1) === false) return null;
    return columns
      .filter((column) => column.matches.includes(0))
      .map((column) => ({ places: column.places(), matches: column.matches }));
  }

  /** 1 for each name that matches and whose rule matches; null = all names match, empty = no name matches. */
  private nameMatches(block: BlockReader, names: KnownNames | undefined): Uint8Array | null {
    const matches = this.domain === null ? null : this.domainMatches(block, this.domain, names);
    if (this.rule === null || matches?.length === 0) return matches;
    const byRule = matchesOf([null, ...block.head.rules], this.rule);
    const ruleOf = block.ruleOf();
    const both = matches ?? new Uint8Array(ruleOf.length).fill(1);
    for (let name = 0; name < both.length; name++) both[name]! &= byRule[ruleOf[name]!]!;
    return both;
  }

  private domainMatches(block: BlockReader, domain: NameMatches, names: KnownNames | undefined): Uint8Array {
    if (names !== undefined) return this.matched(names).matches;
    const texts = block.nameTexts();
    // If no name can match, no other part of the block is read.
    return domain.isWithout(texts) ? new Uint8Array(0) : domain.among(texts, block.nameStarts());
  }

  /** Whether queries of a block can have a rule that matches. */
  private mayHaveRule({ rules }: BlockHead): boolean {
    const { rule } = this;
    return rule === null || rule(null) || rules.some(rule);
  }
}

function isWhole({ head }: BlockReader, { fromUs, toUs }: TimeSpan): boolean {
  return head.first_us >= fromUs && head.last_us < toUs;
}

function sumOf(entries: readonly (readonly unknown[])[], matches: Uint8Array, at: number): number {
  return entries.reduce((sum, entry, place) => (matches[place] === 1 ? sum + (entry[at] as number) : sum), 0);
}

/** 1 for each entry that matches. */
function matchesOf<T>(entries: readonly T[], test: Test<T>): Uint8Array {
  const matches = new Uint8Array(entries.length);
  for (let place = 0; place < matches.length; place++)
    if (test === null || test(entries[place]!)) matches[place] = 1;
  return matches;
}

/**
 * True if exactly the entries with a flag match, false if exactly the entries without the flag match, null in all other
 * cases.
 */
function flagWanted<T>(
  entries: readonly T[],
  matches: Uint8Array,
  hasFlag: (entry: T) => boolean,
): boolean | null {
  const first = entries.findIndex((_, place) => matches[place] === 1);
  const wanted = hasFlag(entries[first]!);
  return entries.every((entry, place) => (matches[place] === 1) === (hasFlag(entry) === wanted))
    ? wanted
    : null;
}

/** 1 for each `NameClass` whose outcomes all match; null if only some outcomes of a class match. */
function classesWanted(outcomes: readonly HeadOutcome[], matches: Uint8Array): Uint8Array | null {
  const wanted = new Uint8Array(Object.keys(NameClass).length);
  const classes = outcomes.map(([, status]) => nameClassOf(QueryStatus[status]));
  classes.forEach((nameClass, place) => (wanted[nameClass] = matches[place]!));
  return classes.every((nameClass, place) => wanted[nameClass] === matches[place]) ? wanted : null;
}

function matchesEach(columns: readonly Column[], row: number): boolean {
  return columns.every(({ places, matches }) => matches[places[row]!] === 1);
}

function countMatching(columns: readonly Column[], rows: number): number {
  const [a, b, c] = columns;
  if (a === undefined) return rows;
  let count = 0;
  if (b === undefined) for (let row = 0; row < rows; row++) count += a.matches[a.places[row]!]!;
  else if (c === undefined)
    for (let row = 0; row < rows; row++) count += a.matches[a.places[row]!]! & b.matches[b.places[row]!]!;
  else
    for (let row = 0; row < rows; row++)
      count += a.matches[a.places[row]!]! & b.matches[b.places[row]!]! & c.matches[c.places[row]!]!;
  return count;
}

function allRows(count: number): number[] {
  const rows = new Array<number>(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return rows;
}

function matchingRows({ places, matches }: Column): number[] {
  const rows: number[] = [];
  for (let row = 0; row < places.length; row++) if (matches[places[row]!] === 1) rows.push(row);
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
