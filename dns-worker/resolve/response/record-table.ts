/**
 * The resource records of a received message as columns of offsets, filled in one pass over its sections without
 * allocating. Names are hashed, not stored: the work is linear for any message.
 */
import { areOptions } from '../../../shared/dns/edns-option.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import {
  Header,
  MAX_MESSAGE_SIZE,
  Record,
  readU16,
  readU32,
  skipName,
  skipRecord,
} from '../../../shared/dns/wire.ts';
import type { ExpandedName } from './wire-name.ts';
import { expandName, foldedHash, newExpandedName, sameName } from './wire-name.ts';

/** Maximum number of records in a message: the smallest record has the root as owner and no data. */
export const MAX_RECORDS = Math.floor((MAX_MESSAGE_SIZE - Header.SIZE) / (1 + Record.RDATA));

/** QTYPEs and meta-TYPEs, such as TKEY and TSIG (RFC 6895 section 3.1). */
const FIRST_META = 249;
const LAST_META = 255;

/** Each thread has one; `read` fills it for each message. */
export class RecordTable {
  /** Offsets of the records' parts in the message. */
  readonly ownerAt = new Uint16Array(MAX_RECORDS);
  readonly ownerHash = new Int32Array(MAX_RECORDS);
  readonly type = new Uint16Array(MAX_RECORDS);
  readonly rrClass = new Uint16Array(MAX_RECORDS);
  /** TTLs in seconds; values with the top bit set count as 0 (RFC 2181 section 8). */
  readonly ttlSecs = new Uint32Array(MAX_RECORDS);
  readonly rdataAt = new Uint16Array(MAX_RECORDS);
  readonly rdlength = new Uint16Array(MAX_RECORDS);
  /** Records before this index are in the answer section. */
  answers = 0;
  /** Records from `answers` up to this index are in the authority section. */
  count = 0;
  /** The upper eight bits of the rcode, from the OPT record (RFC 6891 section 6.1.3). */
  extendedRcode = 0;
  /** Start and end of the options in the OPT record; both 0 without an OPT record. */
  optionsAt = 0;
  optionsEnd = 0;
  hasOpt = false;

  /**
   * Whether the additional section has a TSIG or another meta record, which is malformed because Weir does not sign
   * queries.
   */
  private hasMetaBehind = false;
  private readonly name: ExpandedName = newExpandedName();
  private readonly seed: number;
  private qnameHash = 0;

  /** `seed` prevents senders of messages from choosing hash collisions. */
  constructor(seed: number) {
    this.seed = seed;
  }

  /** Whether the message, whose question ends at `at`, is well-formed up to its last record; fills the columns. */
  read(message: Uint8Array, at: number, qname: ExpandedName): 'read' | 'malformed' | 'malformed-data' {
    const answers = readU16(message, Header.ANCOUNT);
    const authorities = readU16(message, Header.NSCOUNT);
    if (answers + authorities > MAX_RECORDS) return 'malformed';
    this.count = 0;
    this.qnameHash = foldedHash(qname, this.seed);
    let offset = at;
    for (let i = answers + authorities; i > 0; i--) {
      offset = this.readRecord(message, offset);
      if (offset < 0) return 'malformed';
    }
    this.answers = answers;
    if (!this.readAdditional(message, offset)) return 'malformed';
    return this.hasMeta() ? 'malformed-data' : 'read';
  }

  /** Whether the message has a meta record, or an OPT outside the additional section (RFC 6891 section 6.1.1). */
  private hasMeta(): boolean {
    for (let i = 0; i < this.count; i++) {
      const type = this.type[i]!;
      if (type === RRType.OPT || isMeta(type)) return true;
    }
    return this.hasMetaBehind;
  }

  /** Hash of a name: owners are compared by hash first. */
  hash(name: ExpandedName): number {
    return foldedHash(name, this.seed);
  }

  /** Whether a record belongs to this name, which has the given hash. */
  isOwnedBy(message: Uint8Array, index: number, name: ExpandedName, hash: number): boolean {
    if (this.ownerHash[index] !== hash) return false;
    const owner = this.name;
    return (
      expandName(message, this.ownerAt[index]!, owner) &&
      sameName(owner.wire, owner.length, name.wire, name.length)
    );
  }

  /** Expands a record's owner name into `into`; false if it is malformed. */
  owner(message: Uint8Array, index: number, into: ExpandedName): boolean {
    return expandName(message, this.ownerAt[index]!, into);
  }

  private readRecord(message: Uint8Array, at: number): number {
    let tail: number;
    let hash: number;
    if (message[at] === 0xc0 && message[at + 1] === Header.SIZE) {
      tail = at + 2;
      hash = this.qnameHash;
    } else {
      if (!expandName(message, at, this.name)) return -1;
      tail = this.name.next;
      hash = foldedHash(this.name, this.seed);
    }
    if (tail + Record.RDATA > message.length) return -1;
    const rdlength = readU16(message, tail + Record.RDLENGTH);
    const next = tail + Record.RDATA + rdlength;
    if (next > message.length) return -1;
    const index = this.count++;
    const ttlSecs = readU32(message, tail + Record.TTL);
    this.ownerAt[index] = at;
    this.ownerHash[index] = hash;
    this.type[index] = readU16(message, tail + Record.TYPE);
    this.rrClass[index] = readU16(message, tail + Record.CLASS);
    this.ttlSecs[index] = ttlSecs > 0x7fffffff ? 0 : ttlSecs;
    this.rdataAt[index] = tail + Record.RDATA;
    this.rdlength[index] = rdlength;
    return next;
  }

  private readAdditional(message: Uint8Array, at: number): boolean {
    this.extendedRcode = 0;
    this.optionsAt = 0;
    this.optionsEnd = 0;
    this.hasOpt = false;
    this.hasMetaBehind = false;
    let offset = at;
    for (let i = readU16(message, Header.ARCOUNT); i > 0; i--) {
      const next = skipRecord(message, offset, message.length);
      if (next < 0) return false;
      const fields = skipName(message, offset, message.length);
      const type = readU16(message, fields + Record.TYPE);
      if (isMeta(type)) this.hasMetaBehind = true;
      // RFC 6891 section 6.1.1 allows one OPT record; replies through a proxy that adds its own OPT record have two.
      if (type === RRType.OPT && !this.hasOpt) {
        if (message[offset] !== 0) return false;
        if (!areOptions(message, fields + Record.RDATA, next)) return false;
        this.extendedRcode = message[offset + 1 + Record.TTL]!;
        this.optionsAt = offset + 1 + Record.RDATA;
        this.optionsEnd = next;
        this.hasOpt = true;
      }
      offset = next;
    }
    return true;
  }
}

function isMeta(type: number): boolean {
  return type >= FIRST_META && type <= LAST_META;
}
