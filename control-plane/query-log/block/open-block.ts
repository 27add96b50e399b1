/**
 * The block that is being filled: queries in columns, and their dictionaries. A query allocates nothing unless a
 * dictionary grows. Memory only; `block-encoder.ts` compresses its content.
 */
import { RRType } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import type { QueryLogRow } from '../rows/row.ts';
import { AnswerForm, ReducedAnswers, secsBeyond } from './answer-form.ts';
import { ByteDictionary, Entry, NOTES } from './byte-dictionary.ts';
import { ClientDictionary, type StoredClientParts, type RepeatedClient } from './client-dictionary.ts';
import { type ViewedBytes, viewed } from './viewed-bytes.ts';
import { RuleDictionary } from './rule-dictionary.ts';
import { type HeadClient, HOUR_US, MAX_BLOCK_ROWS, nameClassOf, type Repeats } from './block-layout.ts';
import { OpenRepeats } from './open-repeats.ts';
import { OutcomeDictionary } from './outcome-dictionary.ts';
import { type RepeatEntry, repeatsOf } from './repeats.ts';

/** Size of the dictionaries in bytes at which a block is full, even if more rows would fit. */
const MAX_DICTIONARY_BYTES = 8 * 1024 * 1024;
/** Maximum number of repeats of merged blocks whose clients stay separate; they need half a megabyte. */
const MAX_CARRIED = 65_535;

/** Optional parts of a query that are stored. */
export interface StoredParts extends StoredClientParts {
  readonly answers: boolean;
}

/** Queries of one hour. */
export class OpenBlock {
  /** Start of the hour, microseconds since 1970; -1 = no query yet. */
  hourUs = -1;
  rowCount = 0;
  firstUs = 0;
  lastUs = 0;
  readonly times = new Uint32Array(MAX_BLOCK_ROWS);
  readonly nameOf = new Uint16Array(MAX_BLOCK_ROWS);
  readonly clientOf = new Uint16Array(MAX_BLOCK_ROWS);
  readonly outcomeOf = new Uint16Array(MAX_BLOCK_ROWS);
  readonly responseTimes = new Uint32Array(MAX_BLOCK_ROWS);
  /** Index of the answer records plus one; 0 = none. */
  readonly answerOf = new Uint16Array(MAX_BLOCK_ROWS);
  readonly answerTtls = new Uint32Array(MAX_BLOCK_ROWS);
  /**
   * Names in wire form; the tag contains the rule's index plus one, from bit 16 on the offset of the rule's name, and
   * from bit 24 on the class.
   */
  readonly names = new ByteDictionary();
  /** Answer records; the tag is the `AnswerForm`. */
  readonly answers = new ByteDictionary();
  readonly rules = new RuleDictionary();
  readonly clients = new ClientDictionary();
  readonly outcomes = new OutcomeDictionary();
  /** Queries that rows represent in addition to their own; null = none so far. */
  repeats: OpenRepeats | null = null;
  /** Repeats of rows that are merged from other blocks. */
  private readonly carried: RepeatEntry[] = [];
  private readonly reduced = new ReducedAnswers();
  /** The memory of the current row. Many rows share the same memory. */
  private source: ViewedBytes = viewed(new Uint8Array(0));

  /** Whether a query with this time belongs in the block. */
  accepts(timestampUs: number): boolean {
    return this.rowCount === 0 || (timestampUs >= this.hourUs && timestampUs < this.hourUs + HOUR_US);
  }

  /** Whether there is no space for another query. */
  get isFull(): boolean {
    const bytes = this.names.byteCount + this.answers.byteCount + this.rules.textBytes;
    return (
      this.rowCount === MAX_BLOCK_ROWS ||
      bytes >= MAX_DICTIONARY_BYTES ||
      this.clients.size === MAX_BLOCK_ROWS ||
      this.repeats?.isFull === true
    );
  }

  /** Number of queries, including those without a row. */
  get queryCount(): number {
    return this.rowCount + (this.repeats?.count ?? 0);
  }

  /** Adds a query for which `accepts()` has returned true. */
  add(row: QueryLogRow, timestampUs: number, kept: StoredParts): void {
    if (this.rowCount === 0) this.begin(timestampUs);
    const index = this.rowCount++;
    if (timestampUs < this.firstUs) this.firstUs = timestampUs;
    if (timestampUs > this.lastUs) this.lastUs = timestampUs;
    this.times[index] = timestampUs - this.hourUs;
    this.responseTimes[index] = row.responseTimeUs;
    this.view(row);
    const { qname } = row;
    const tag = this.ruleTag(row) | (nameClassOf(row.status) << 24);
    const name = this.names.find(this.source, qname.at, qname.length, tag);
    this.nameOf[index] = this.names.words[name + Entry.PLACE]!;
    this.clientOf[index] = this.clients.place(row, this.source, kept);
    this.outcomeOf[index] = this.outcomes.place(row);
    this.answerOf[index] = 0;
    this.answerTtls[index] = 0;
    if (kept.answers && row.answers.length !== 0) this.addAnswers(row, index, name);
  }

  /** Adds a query to the repeats of the row at an index, which has the same second. */
  addRepeat(row: QueryLogRow, rowPlace: number, kept: StoredParts): void {
    const repeats = (this.repeats ??= new OpenRepeats());
    this.view(row);
    const isOther = !repeats.hasManyClients(rowPlace);
    const client = isOther ? this.clients.place(row, this.source, kept) : this.clientOf[rowPlace]!;
    repeats.add(rowPlace, client, row);
  }

  /**
   * Adds the repeats of a row from another block; call this after all rows are added. If there is no space for another
   * client, the queries count for the client of the row.
   */
  carryRepeats(rowPlace: number, client: RepeatedClient, queries: number): void {
    const hasRoom = this.clients.size < MAX_BLOCK_ROWS && this.carried.length < MAX_CARRIED;
    const place = hasRoom ? this.clients.placeOf(client) : this.clientOf[rowPlace]!;
    const last = this.carried.at(-1);
    if (last?.row !== rowPlace || last.client !== place)
      this.carried.push({ row: rowPlace, client: place, queries });
    else this.carried.splice(-1, 1, { ...last, queries: last.queries + queries });
  }

  clear(): void {
    this.hourUs = -1;
    this.rowCount = 0;
    for (const dictionary of [this.names, this.answers, this.clients, this.outcomes]) dictionary.clear();
    this.rules.clear();
    this.repeats?.clear();
    this.carried.length = 0;
  }

  /** Index plus one of each name's rule; 0 = none. */
  rulesOfNames(): Uint16Array {
    return new Uint16Array(this.names.column(Entry.TAG)); // Keeps the low 16 bits of each tag.
  }

  headClients(): HeadClient[] {
    const { clients, clientOf, outcomeOf, rowCount } = this;
    const isBlocked = this.outcomes.blocked();
    const queries = new Uint32Array(clients.size);
    const blocked = new Uint32Array(clients.size);
    for (let row = 0; row < rowCount; row++) {
      const client = clientOf[row]!;
      queries[client]!++;
      blocked[client]! += isBlocked[outcomeOf[row]!]!;
    }
    return Array.from(queries, (count, place) => {
      const own = [clients.addressOf(place), clients.groupOf(place), count, blocked[place]!] as const;
      const clientId = clients.clientIdOf(place);
      return clientId === 0 ? own : [...own, clientId];
    });
  }

  /** The repeats as stored in the head; null if no row has any. */
  headRepeats(): Repeats | null {
    return repeatsOf([...(this.repeats?.entries() ?? []), ...this.carried]);
  }

  private view({ bytes }: QueryLogRow): void {
    if (bytes !== this.source.bytes) this.source = viewed(bytes);
  }

  private begin(timestampUs: number): void {
    this.hourUs = Math.floor(timestampUs / HOUR_US) * HOUR_US;
    this.firstUs = timestampUs;
    this.lastUs = timestampUs;
  }

  private ruleTag({ rule, ruleName, alias, qname, bytes }: QueryLogRow): number {
    if (rule === null) return 0;
    if (alias.length !== 0) {
      // The rule matched an alias, so the rule's name is a suffix of the alias, not of the queried name.
      const name = rule.atName ? nameToText(bytes.subarray(ruleName.at)) + rule.after : '';
      const after = nameToText(bytes.subarray(alias.at));
      return this.rules.place({ ...rule, before: rule.before + name, atName: false, after }) + 1;
    }
    if (!rule.atName) return this.rules.place(rule) + 1;
    const offset = ruleName.at - qname.at;
    const isParent = offset >= 0 && ruleName.at + ruleName.length === qname.at + qname.length;
    if (isParent) return (this.rules.place(rule) + 1) | (offset << 16);
    // The rule is for an address or prefix in the answer, so its name is not a suffix of the queried name.
    const name = nameToText(bytes.subarray(ruleName.at));
    const whole = { ...rule, before: rule.before + name + rule.after, atName: false, after: '' };
    return this.rules.place(whole) + 1;
  }

  /**
   * The answer for a name and type is usually the same as the previous one, so a note in the name's entry refers to the
   * previous one.
   */
  private addAnswers({ answers, qtype }: QueryLogRow, index: number, name: number): void {
    const { names, source } = this;
    const { at, length } = answers;
    const note = name + Entry.NOTE + noteOf(qtype);
    const last = names.words[note]!;
    const seconds = last === 0 ? -1 : this.secsBeyondEntry(last, at, length);
    if (seconds >= 0) {
      this.answerOf[index] = this.answers.words[last + Entry.PLACE]! + 1;
      this.answerTtls[index] = seconds;
      return;
    }
    const { reduced } = this;
    reduced.take(source, at, length);
    const entry = this.answers.find(reduced, 0, reduced.length, reduced.form);
    this.answerOf[index] = this.answers.words[entry + Entry.PLACE]! + 1;
    this.answerTtls[index] = reduced.smallestTtl;
    names.words[note] = entry;
  }

  private secsBeyondEntry(entry: number, at: number, length: number): number {
    const { words, view } = this.answers;
    if (words[entry + Entry.LENGTH] !== length || words[entry + Entry.TAG] !== AnswerForm.TTLS_REDUCED)
      return -1;
    return secsBeyond(view, (entry + Entry.BYTES) * 4, this.source, at, length);
  }
}

/** Index of the note, in the entry of a name, that refers to the last answer of this type. */
function noteOf(qtype: number): number {
  if (qtype === RRType.A) return 0;
  return qtype === RRType.AAAA ? 1 : NOTES - 1;
}
