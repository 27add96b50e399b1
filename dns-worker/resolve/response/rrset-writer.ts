/**
 * Writes RRsets of a received message into the body of the answer: the records of one name and type, with one TTL and
 * their signatures. `response-reader.ts` decides which RRsets an answer keeps.
 */
import { RRClass, RRType } from '../../../shared/dns/iana.ts';
import { readU16 } from '../../../shared/dns/wire.ts';
import type { BodyWriter } from './body-writer.ts';
import type { Question } from './question.ts';
import type { RecordTable } from './record-table.ts';
import type { ExpandedName } from './wire-name.ts';

/** TTL if no record was written. */
export const NO_TTL = 0xffffffff;

/** Each thread has one. Call `begin` for each message, whose records are in `table`. */
export class RRsetWriter {
  /** Smallest TTL of the written records, in seconds, and number of written records. */
  minTtlSecs = NO_TTL;
  written = 0;
  private message: Uint8Array = new Uint8Array(0);
  private question!: Question;
  private readonly table: RecordTable;
  private readonly body: BodyWriter;

  constructor(table: RecordTable, body: BodyWriter) {
    this.table = table;
    this.body = body;
  }

  begin(message: Uint8Array, question: Question): void {
    this.message = message;
    this.question = question;
    this.minTtlSecs = NO_TTL;
    this.written = 0;
  }

  /** Whether a record is of the question's class. */
  isAnswerClass(index: number): boolean {
    return this.question.qclass === RRClass.ANY || this.table.rrClass[index] === this.question.qclass;
  }

  /** Whether a record is a signature of RRsets of this type. */
  covers(index: number, type: number): boolean {
    if (this.table.type[index] !== RRType.RRSIG || this.table.rdlength[index]! < 2) return false;
    return readU16(this.message, this.table.rdataAt[index]!) === type;
  }

  /** Writes one record; false = malformed, or does not fit. */
  write(index: number, ttlSecs: number): boolean {
    this.written++;
    if (ttlSecs < this.minTtlSecs) this.minTtlSecs = ttlSecs;
    return this.body.record(this.message, this.table, index, ttlSecs);
  }

  /** Writes a CNAME that the message omits; false = it does not fit. */
  writeAlias(owner: ExpandedName, target: ExpandedName, ttlSecs: number): boolean {
    this.written++;
    if (ttlSecs < this.minTtlSecs) this.minTtlSecs = ttlSecs;
    return this.body.alias(owner, target, ttlSecs);
  }

  /**
   * Writes the answer section's RRset of `owner`, whose hash is `hash`, and this type, followed by its signatures if
   * the question has DO; all records get the RRset's smallest TTL (RFC 2181 section 5.2). `only` limits the RRset to
   * one record: a name has one CNAME. Returns the number of records without signatures; -1 = a record could not be
   * written.
   */
  writeRRset(owner: ExpandedName, hash: number, type: number, only = -1): number {
    const { answers } = this.table;
    let ttlSecs = NO_TTL;
    let found = 0;
    for (let i = 0; i < answers; i++) {
      if (!this.isMember(i, owner, hash, type, only)) continue;
      found++;
      ttlSecs = Math.min(ttlSecs, this.table.ttlSecs[i]!);
    }
    if (found === 0) return 0;
    const signed = this.question.dnssecOk && type !== RRType.RRSIG;
    for (let i = 0; signed && i < answers; i++)
      if (this.isSignature(i, owner, hash, type)) ttlSecs = Math.min(ttlSecs, this.table.ttlSecs[i]!);
    for (let i = 0; i < answers; i++)
      if (this.isMember(i, owner, hash, type, only) && !this.write(i, ttlSecs)) return -1;
    for (let i = 0; signed && i < answers; i++)
      if (this.isSignature(i, owner, hash, type) && !this.write(i, ttlSecs)) return -1;
    return found;
  }

  private isMember(index: number, owner: ExpandedName, hash: number, type: number, only: number): boolean {
    if (only >= 0) return index === only;
    return this.table.type[index] === type && this.isOwned(index, owner, hash);
  }

  private isSignature(index: number, owner: ExpandedName, hash: number, covered: number): boolean {
    return this.covers(index, covered) && this.isOwned(index, owner, hash);
  }

  private isOwned(index: number, owner: ExpandedName, hash: number): boolean {
    return this.isAnswerClass(index) && this.table.isOwnedBy(this.message, index, owner, hash);
  }
}
