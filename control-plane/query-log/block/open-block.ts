/**
 * The block that is being filled: queries by columns, and their dictionaries. Nothing is allocated for a query but where
 * a dictionary grows. Pure memory; `block-encoder.ts` compresses what it holds.
 */
import {
  DNSSEC_STATUS_NAMES,
  isBlockedStatus,
  PROTOCOL_NAMES,
  QUERY_STATUS_NAMES,
  QueryStatus,
  type QueryStatusCode,
} from '../../../shared/query-log.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { ADDRESS_SIZE, addressToText } from '../../../shared/net/ip.ts';
import type { QueryLogRow } from '../attribution/row.ts';
import { AnswerForm, ReducedAnswers, secsBeyond } from './answer-form.ts';
import { ByteDictionary } from './byte-dictionary.ts';
import { WordDictionary } from './word-dictionary.ts';
import { RuleDictionary } from './rule-dictionary.ts';
import { type HeadClient, type HeadOutcome, HOUR_US, MAX_BLOCK_ROWS, NameClass } from './block-layout.ts';

/** Bytes of dictionaries at which a block is full whatever its rows. */
const MAX_DICTIONARY_BYTES = 8 * 1024 * 1024;
/** A client as numbers: four of its address, then the group. */
const CLIENT_WORDS = 5;
const GROUP_WORD = 4;
/** Third number of an IPv4 address as ::ffff:a.b.c.d. */
const MAPPED = 0xffff;
/** An outcome as numbers: qtype and rcode; the small ones; the upstream's place plus one. */
const OUTCOME_WORDS = 3;
/** Bits of the second number. */
const Small = { STATUS: 0, PROTOCOL: 8, DNSSEC: 16, CACHED: 24 } as const;

const RESOLVED: ReadonlySet<number> = new Set([QueryStatus.ALLOWED, QueryStatus.CACHED, QueryStatus.STALE]);

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
  /** By name, the answers to the last query for it: mostly those to the next one, too. Place plus one; 0 = none. */
  private readonly lastAnswers = new Uint16Array(MAX_BLOCK_ROWS);
  /** Names in wire form; the tag is the rule's place plus one, from bit 16 the offset of its name, from bit 24 the class. */
  readonly names = new ByteDictionary();
  /** The tag is the form. */
  readonly answers = new ByteDictionary();
  readonly rules = new RuleDictionary();
  private readonly clients = new WordDictionary(CLIENT_WORDS);
  private readonly outcomes = new WordDictionary(OUTCOME_WORDS);
  private readonly upstreams: string[] = [];
  private readonly reduced = new ReducedAnswers();

  /** Whether a query of this time belongs into the block. */
  accepts(timestampUs: number): boolean {
    return this.rowCount === 0 || (timestampUs >= this.hourUs && timestampUs < this.hourUs + HOUR_US);
  }

  /** Whether there is no room for another query. */
  get isFull(): boolean {
    const { names, answers } = this;
    const bytes = names.starts[names.size]! + answers.starts[answers.size]! + this.rules.textBytes;
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
    const { bytes, qname } = row;
    this.nameOf[index] = this.names.place(
      bytes,
      qname.at,
      qname.length,
      this.ruleTag(row) | (classOf(row.status) << 24),
    );
    this.clientOf[index] = this.clientPlace(row, kept);
    this.outcomeOf[index] = this.outcomePlace(row);
    this.answerOf[index] = 0;
    this.answerTtls[index] = 0;
    if (kept.answers && row.answers.length !== 0) this.addAnswers(row, index);
  }

  /** Forgets everything. */
  clear(): void {
    this.hourUs = -1;
    this.rowCount = 0;
    for (const dictionary of [this.names, this.answers, this.clients, this.outcomes]) dictionary.clear();
    this.rules.clear();
    this.upstreams.length = 0;
    this.lastAnswers.fill(0);
  }

  get outcomeCount(): number {
    return this.outcomes.size;
  }

  get clientCount(): number {
    return this.clients.size;
  }

  /** `QueryStatus` of an outcome. */
  statusOf(outcome: number): number {
    return this.outcomes.words[outcome * OUTCOME_WORDS + 1]! & 0xff;
  }

  /** Group of a client. */
  groupOf(client: number): number {
    return this.clients.words[client * CLIENT_WORDS + GROUP_WORD]!;
  }

  /** Place plus one of a name's rule; 0 = none. */
  ruleOf(name: number): number {
    return this.names.tags[name]! & 0xffff;
  }

  headClients(): HeadClient[] {
    const { clients, clientOf, outcomeOf, rowCount } = this;
    const isBlocked = this.blockedOutcomes();
    const blocked = new Uint32Array(clients.size);
    for (let row = 0; row < rowCount; row++) blocked[clientOf[row]!]! += isBlocked[outcomeOf[row]!]!;
    const address = new DataView(new ArrayBuffer(ADDRESS_SIZE));
    const bytes = new Uint8Array(address.buffer);
    return Array.from(blocked, (blockedQueries, place) => {
      for (let i = 0; i < GROUP_WORD; i++) address.setUint32(i * 4, clients.words[place * CLIENT_WORDS + i]!);
      return [addressToText(bytes), this.groupOf(place), clients.counts[place]!, blockedQueries];
    });
  }

  headOutcomes(): HeadOutcome[] {
    const { words, counts, size } = this.outcomes;
    return Array.from({ length: size }, (_, place) => {
      const at = place * OUTCOME_WORDS;
      const small = words[at + 1]!;
      const upstream = words[at + 2]!;
      return [
        words[at]! & 0xffff,
        QUERY_STATUS_NAMES[(small >>> Small.STATUS) & 0xff]!,
        words[at]! >>> 16,
        PROTOCOL_NAMES[(small >>> Small.PROTOCOL) & 0xff]!,
        DNSSEC_STATUS_NAMES[(small >>> Small.DNSSEC) & 0xff]!,
        small >>> Small.CACHED === 1,
        upstream === 0 ? null : this.upstreams[upstream - 1]!,
        counts[place]!,
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

  private clientPlace({ bytes, client, groupId }: QueryLogRow, kept: Kept): number {
    const { key } = this.clients;
    const { at } = client;
    if (client.length === 4) setMapped(key, wordAt(bytes, at));
    else for (let i = 0; i < GROUP_WORD; i++) key[i] = wordAt(bytes, at + i * 4);
    const isIpv4 = key[0] === 0 && key[1] === 0 && key[2] === MAPPED;
    if (isIpv4) key[3]! &= leadingBytes(kept.ipv4Bytes);
    else for (let i = 0; i < GROUP_WORD; i++) key[i]! &= leadingBytes(kept.ipv6Bytes - i * 4);
    key[GROUP_WORD] = groupId;
    return this.clients.place();
  }

  private outcomePlace(row: QueryLogRow): number {
    const { key } = this.outcomes;
    key[0] = row.qtype | (row.rcode << 16);
    key[1] =
      (row.status << Small.STATUS) |
      (row.protocol << Small.PROTOCOL) |
      (row.dnssec << Small.DNSSEC) |
      ((row.cached ? 1 : 0) << Small.CACHED);
    key[2] = this.upstreamNumber(row.upstream);
    return this.outcomes.place();
  }

  /** Place plus one; few upstreams answer within a block. */
  private upstreamNumber(upstream: string | null): number {
    if (upstream === null) return 0;
    const place = this.upstreams.indexOf(upstream);
    return place >= 0 ? place + 1 : this.upstreams.push(upstream);
  }

  private addAnswers({ bytes, answers }: QueryLogRow, index: number): void {
    const { at, length } = answers;
    const name = this.nameOf[index]!;
    const last = this.lastAnswers[name]! - 1;
    const seconds = last < 0 ? -1 : this.secsBeyondEntry(last, bytes, at, length);
    if (seconds >= 0) {
      this.answers.counts[last]!++;
      this.answerOf[index] = last + 1;
      this.answerTtls[index] = seconds;
      return;
    }
    const { reduced } = this;
    reduced.take(bytes, at, length);
    const place = this.answers.place(reduced.bytes, 0, reduced.length, reduced.form) + 1;
    this.answerOf[index] = place;
    this.answerTtls[index] = reduced.smallestTtl;
    this.lastAnswers[name] = place;
  }

  private secsBeyondEntry(place: number, bytes: Uint8Array, at: number, length: number): number {
    const { answers } = this;
    const start = answers.starts[place]!;
    if (answers.tags[place] !== AnswerForm.TTLS_REDUCED || answers.starts[place + 1]! - start !== length)
      return -1;
    return secsBeyond(answers.bytes, start, bytes, at, length);
  }
}

function classOf(status: QueryStatusCode): number {
  if (isBlockedStatus(status)) return NameClass.BLOCKED;
  return RESOLVED.has(status) ? NameClass.RESOLVED : NameClass.OTHER;
}

function setMapped(key: Uint32Array, address: number): void {
  key[0] = 0;
  key[1] = 0;
  key[2] = MAPPED;
  key[3] = address;
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

/** A mask of the leading bytes of four. */
function leadingBytes(count: number): number {
  if (count >= 4) return -1;
  return count <= 0 ? 0 : -1 << (32 - count * 8);
}
