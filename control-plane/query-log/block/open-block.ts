/**
 * The block that is being filled: queries by columns, and their dictionaries. Nothing is allocated for a query but where
 * a dictionary grows. Pure memory; `block-encoder.ts` compresses what it holds.
 */
import {
  DNSSEC_STATUS_NAMES,
  isBlockedStatus,
  PROTOCOL_NAMES,
  QUERY_STATUS_NAMES,
} from '../../../shared/query-log.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { ADDRESS_SIZE, addressToText } from '../../../shared/net/ip.ts';
import type { QueryLogRow } from '../attribution/row.ts';
import { AnswerForm, ReducedAnswers, secsBeyond } from './answer-form.ts';
import { ByteDictionary, Entry, NOTES } from './byte-dictionary.ts';
import { type ViewedBytes, viewed } from './viewed-bytes.ts';
import { WordDictionary } from './word-dictionary.ts';
import { RuleDictionary } from './rule-dictionary.ts';
import { type HeadClient, type HeadOutcome, HOUR_US, MAX_BLOCK_ROWS } from './block-layout.ts';
import { nameClassOf } from './name-class.ts';

/** Bytes of dictionaries at which a block is full whatever its rows. */
const MAX_DICTIONARY_BYTES = 8 * 1024 * 1024;
/** A client as numbers: four of its address, then the group. */
const ADDRESS_WORDS = 4;
const GROUP_WORD = 4;
/** Third number of an IPv4 address as ::ffff:a.b.c.d. */
const MAPPED = 0xffff;
/** An outcome as numbers. */
const OutcomeWord = {
  /** From bit 16 on the rcode. */
  QTYPE: 0,
  /** `Small` */
  SMALL: 1,
  /** Place plus one; 0 = none. */
  UPSTREAM: 2,
} as const;
/** Bits of the second number. */
const Small = { STATUS: 0, PROTOCOL: 8, DNSSEC: 16, CACHED: 24 } as const;

/** What is stored of a query beyond its numbers. */
export interface Kept {
  /** Leading bytes of an IPv4 and of an IPv6 address; the rest becomes zero. */
  readonly ipv4Bytes: number;
  readonly ipv6Bytes: number;
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
  /** Place plus one; 0 = none. */
  readonly answerOf = new Uint16Array(MAX_BLOCK_ROWS);
  readonly answerTtls = new Uint32Array(MAX_BLOCK_ROWS);
  /** Names in wire form; the tag is the rule's place plus one, from bit 16 the offset of its name, from bit 24 the class. */
  readonly names = new ByteDictionary();
  /** The tag is the form. */
  readonly answers = new ByteDictionary();
  readonly rules = new RuleDictionary();
  private readonly clients = new WordDictionary();
  private readonly outcomes = new WordDictionary();
  private readonly upstreams: string[] = [];
  /** The upstream of the query before, and its place plus one. */
  private lastUpstream: string | null = null;
  private lastUpstreamNumber = 0;
  private readonly reduced = new ReducedAnswers();
  /** The memory of the rows: the same for many. */
  private source: ViewedBytes = viewed(new Uint8Array(0));

  /** Whether a query of this time belongs into the block. */
  accepts(timestampUs: number): boolean {
    return this.rowCount === 0 || (timestampUs >= this.hourUs && timestampUs < this.hourUs + HOUR_US);
  }

  /** Whether there is no room for another query. */
  get isFull(): boolean {
    const bytes = this.names.byteCount + this.answers.byteCount + this.rules.textBytes;
    return this.rowCount === MAX_BLOCK_ROWS || bytes >= MAX_DICTIONARY_BYTES;
  }

  /** Adds a query, which `accepts()` has let in. */
  add(row: QueryLogRow, timestampUs: number, kept: Kept): void {
    if (this.rowCount === 0) this.begin(timestampUs);
    const index = this.rowCount++;
    if (timestampUs < this.firstUs) this.firstUs = timestampUs;
    if (timestampUs > this.lastUs) this.lastUs = timestampUs;
    this.times[index] = timestampUs - this.hourUs;
    this.responseTimes[index] = row.responseTimeUs;
    if (row.bytes !== this.source.bytes) this.source = viewed(row.bytes);
    const { qname } = row;
    const tag = this.ruleTag(row) | (nameClassOf(row.status) << 24);
    const name = this.names.find(this.source, qname.at, qname.length, tag);
    this.nameOf[index] = this.names.words[name + Entry.PLACE]!;
    this.clientOf[index] = this.clientPlace(row, kept);
    this.outcomeOf[index] = this.outcomePlace(row);
    this.answerOf[index] = 0;
    this.answerTtls[index] = 0;
    if (kept.answers && row.answers.length !== 0) this.addAnswers(row, index, name);
  }

  /** Forgets everything. */
  clear(): void {
    this.hourUs = -1;
    this.rowCount = 0;
    for (const dictionary of [this.names, this.answers, this.clients, this.outcomes]) dictionary.clear();
    this.rules.clear();
    this.upstreams.length = 0;
    this.lastUpstream = null;
    this.lastUpstreamNumber = 0;
  }

  get outcomeCount(): number {
    return this.outcomes.size;
  }

  get clientCount(): number {
    return this.clients.size;
  }

  /** `QueryStatus` of an outcome. */
  statusOf(outcome: number): number {
    return (this.outcomes.wordOf(outcome, OutcomeWord.SMALL) >>> Small.STATUS) & 0xff;
  }

  /** Group of a client. */
  groupOf(client: number): number {
    return this.clients.wordOf(client, GROUP_WORD) >>> 0;
  }

  /** Place plus one of each name's rule; 0 = none. */
  rulesOfNames(): Uint16Array {
    return new Uint16Array(this.names.column(Entry.TAG)); // The low half of each.
  }

  headClients(): HeadClient[] {
    const { clients, clientOf, outcomeOf, rowCount } = this;
    const isBlocked = this.blockedOutcomes();
    const blocked = new Uint32Array(clients.size);
    for (let row = 0; row < rowCount; row++) blocked[clientOf[row]!]! += isBlocked[outcomeOf[row]!]!;
    const address = new DataView(new ArrayBuffer(ADDRESS_SIZE));
    const bytes = new Uint8Array(address.buffer);
    return Array.from(blocked, (blockedQueries, place) => {
      for (let i = 0; i < ADDRESS_WORDS; i++) address.setInt32(i * 4, clients.wordOf(place, i));
      return [addressToText(bytes), this.groupOf(place), clients.countOf(place), blockedQueries];
    });
  }

  headOutcomes(): HeadOutcome[] {
    const { outcomes } = this;
    return Array.from({ length: outcomes.size }, (_, place) => {
      const types = outcomes.wordOf(place, OutcomeWord.QTYPE);
      const small = outcomes.wordOf(place, OutcomeWord.SMALL);
      const upstream = outcomes.wordOf(place, OutcomeWord.UPSTREAM);
      return [
        types & 0xffff,
        QUERY_STATUS_NAMES[(small >>> Small.STATUS) & 0xff]!,
        types >>> 16,
        PROTOCOL_NAMES[(small >>> Small.PROTOCOL) & 0xff]!,
        DNSSEC_STATUS_NAMES[(small >>> Small.DNSSEC) & 0xff]!,
        small >>> Small.CACHED === 1,
        upstream === 0 ? null : this.upstreams[upstream - 1]!,
        outcomes.countOf(place),
      ];
    });
  }

  /** 1 for each outcome that counts as blocked. */
  blockedOutcomes(): Uint8Array {
    return Uint8Array.from({ length: this.outcomes.size }, (_, place) =>
      isBlockedStatus(this.statusOf(place)) ? 1 : 0,
    );
  }

  private begin(timestampUs: number): void {
    this.hourUs = Math.floor(timestampUs / HOUR_US) * HOUR_US;
    this.firstUs = timestampUs;
    this.lastUs = timestampUs;
  }

  private ruleTag({ rule, ruleName, qname, bytes }: QueryLogRow): number {
    if (rule === null) return 0;
    if (!rule.atName) return this.rules.place(rule) + 1;
    const offset = ruleName.at - qname.at;
    const isParent = offset >= 0 && ruleName.at + ruleName.length === qname.at + qname.length;
    if (isParent) return (this.rules.place(rule) + 1) | (offset << 16);
    // The name of an alias's target is no part of the name asked for.
    const name = nameToText(bytes.subarray(ruleName.at));
    const { source, before, after } = rule;
    return this.rules.place({ source, before: before + name + after, atName: false, after: '' }) + 1;
  }

  private clientPlace({ client, groupId }: QueryLogRow, kept: Kept): number {
    const { view } = this.source;
    const { at } = client;
    const group = groupId | 0;
    if (client.length === 4) return this.ipv4Place(view.getInt32(at), group, kept);
    const a = view.getInt32(at);
    const b = view.getInt32(at + 4);
    const c = view.getInt32(at + 8);
    const d = view.getInt32(at + 12);
    if (a === 0 && b === 0 && c === MAPPED) return this.ipv4Place(d, group, kept);
    const { ipv6Bytes } = kept;
    return this.clients.place(
      a & leadingBytes(ipv6Bytes),
      b & leadingBytes(ipv6Bytes - 4),
      c & leadingBytes(ipv6Bytes - 8),
      d & leadingBytes(ipv6Bytes - 12),
      group,
    );
  }

  private ipv4Place(address: number, group: number, { ipv4Bytes }: Kept): number {
    return this.clients.place(0, 0, MAPPED, address & leadingBytes(ipv4Bytes), group);
  }

  private outcomePlace(row: QueryLogRow): number {
    const small =
      (row.status << Small.STATUS) |
      (row.protocol << Small.PROTOCOL) |
      (row.dnssec << Small.DNSSEC) |
      ((row.cached ? 1 : 0) << Small.CACHED);
    const upstream = row.upstream === this.lastUpstream ? this.lastUpstreamNumber : this.numberUpstream(row);
    return this.outcomes.place(row.qtype | (row.rcode << 16), small, upstream, 0, 0);
  }

  /** Place plus one; few upstreams answer within a block. */
  private numberUpstream({ upstream }: QueryLogRow): number {
    const place = upstream === null ? -1 : this.upstreams.indexOf(upstream);
    if (upstream === null) this.lastUpstreamNumber = 0;
    else this.lastUpstreamNumber = place >= 0 ? place + 1 : this.upstreams.push(upstream);
    this.lastUpstream = upstream;
    return this.lastUpstreamNumber;
  }

  /** The answers to a query for a name and type are mostly those to the last one: a note of the name's entry. */
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

/** Which note of a name's entry is of this type's answers. */
function noteOf(qtype: number): number {
  if (qtype === RRType.A) return 0;
  return qtype === RRType.AAAA ? 1 : NOTES - 1;
}

/** A mask of the leading bytes of four. */
function leadingBytes(count: number): number {
  if (count >= 4) return -1;
  return count <= 0 ? 0 : -1 << (32 - count * 8);
}
