/**
 * Writes the resource records of a normalised answer into scratch memory, with names compressed against the question
 * and against each other (RFC 1035 section 4.1.4). Offsets are relative to a message whose question name starts at
 * octet 12, so the bytes fit after any client's copy of the question. `response-reader.ts` decides which records are
 * written.
 */
import { RRClass, RRType } from '../../../shared/dns/iana.ts';
import { FOLD } from '../../../shared/dns/name.ts';
import {
  Header,
  MAX_MESSAGE_SIZE,
  QUESTION_TAIL_SIZE,
  Record,
  writeU16,
  writeU32,
} from '../../../shared/dns/wire.ts';
import type { RecordTable } from './record-table.ts';
import type { RdataLayout } from './rdata-layout.ts';
import { hasValidForm } from './rdata-form.ts';
import { expandRdataName, firstNameAt, rdataLayout } from './rdata-layout.ts';
import type { ExpandedName } from './wire-name.ts';
import { expandName, newExpandedName } from './wire-name.ts';

/** Maximum offset in a pointer, which has 14 bits. */
const MAX_POINTER = 0x3fff;
/** Slots of the suffix table; at most half of them are used, and names beyond that are not compressed. */
const SUFFIX_SLOTS = 512;
const MAX_SUFFIXES = SUFFIX_SLOTS / 2;
/** Space beyond the size limit: the longest label and name, and the fixed part of a record. */
const SLACK = 1024;

/** Each thread has one. Call `begin`, then `record` for each record, then `body`. */
export class BodyWriter {
  private readonly image = new Uint8Array(MAX_MESSAGE_SIZE + SLACK);
  private readonly suffixAt = new Uint16Array(SUFFIX_SLOTS);
  private readonly suffixHash = new Int32Array(SUFFIX_SLOTS);
  private readonly labelAt = new Uint8Array(128);
  private readonly labelHash = new Int32Array(128);
  private readonly name: ExpandedName = newExpandedName();
  private readonly ttlsAt: number[] = [];
  private readonly seed: number;
  private suffixes = 0;
  private primed = false;
  private base = 0;
  private end = 0;
  private qnameLength = 0;
  private hasOverflowed = false;

  /** `seed` prevents senders of messages from choosing hash collisions. */
  constructor(seed: number) {
    this.seed = seed;
  }

  /** Bytes written since `begin`. */
  get length(): number {
    return this.end - this.base;
  }

  /** Whether the last record was rejected only because the message is too long. */
  get isTooLong(): boolean {
    return this.hasOverflowed;
  }

  /** Starts a body for the question with this lower-case name. */
  begin(qname: Uint8Array): void {
    if (this.suffixes > 0) this.suffixAt.fill(0);
    this.suffixes = 0;
    this.primed = false;
    this.hasOverflowed = false;
    this.qnameLength = qname.length;
    this.image.set(qname, Header.SIZE);
    this.base = Header.SIZE + qname.length + QUESTION_TAIL_SIZE;
    this.end = this.base;
    this.ttlsAt.length = 0;
  }

  /**
   * Appends record `index` of the table with this TTL; false if its RDATA is malformed, or if the message would exceed
   * 65,535 bytes (`isTooLong`). If the result is false, the body must not be used. `isAnswer` = the message contains
   * the question of `begin`.
   */
  record(message: Uint8Array, table: RecordTable, index: number, ttlSecs: number, isAnswer = true): boolean {
    const ownerAt = table.ownerAt[index]!;
    const isQname = message[ownerAt] === 0xc0 && message[ownerAt + 1] === Header.SIZE;
    if (isAnswer && isQname && this.qnameLength > 1) {
      writeU16(this.image, this.end, 0xc000 | Header.SIZE);
      this.end += 2;
    } else {
      if (!expandName(message, ownerAt, this.name)) return false;
      this.putName(this.name, true);
    }
    const fixedAt = this.end;
    const type = table.type[index]!;
    writeU16(this.image, fixedAt + Record.TYPE, type);
    writeU16(this.image, fixedAt + Record.CLASS, table.rrClass[index]!);
    writeU32(this.image, fixedAt + Record.TTL, ttlSecs);
    this.ttlsAt.push(fixedAt + Record.TTL - this.base);
    this.end = fixedAt + Record.RDATA;
    const at = table.rdataAt[index]!;
    const end = at + table.rdlength[index]!;
    const known = rdataLayout(type);
    const fits = known === undefined ? this.copy(message, at, end) : this.putRdata(message, known, at, end);
    const rdataAt = fixedAt + Record.RDATA;
    if (!fits || !hasValidForm(type, table.rrClass[index]!, this.image, rdataAt, this.end)) return false;
    writeU16(this.image, fixedAt + Record.RDLENGTH, this.end - rdataAt);
    return this.hasRoomFor(0);
  }

  /** Appends a CNAME of class IN that is not in the message; false = it does not fit. */
  alias(owner: ExpandedName, target: ExpandedName, ttlSecs: number): boolean {
    this.putName(owner, true);
    const fixedAt = this.end;
    writeU16(this.image, fixedAt + Record.TYPE, RRType.CNAME);
    writeU16(this.image, fixedAt + Record.CLASS, RRClass.IN);
    writeU32(this.image, fixedAt + Record.TTL, ttlSecs);
    this.ttlsAt.push(fixedAt + Record.TTL - this.base);
    this.end = fixedAt + Record.RDATA;
    this.putName(target, true);
    writeU16(this.image, fixedAt + Record.RDLENGTH, this.end - fixedAt - Record.RDATA);
    return this.hasRoomFor(0);
  }

  /** A copy of the bytes written. */
  body(): Uint8Array {
    return this.image.slice(this.base, this.end);
  }

  /** Offsets of all TTLs in the body. */
  ttlOffsets(): Uint16Array {
    const offsets = new Uint16Array(this.ttlsAt.length);
    for (let i = 0; i < offsets.length; i++) offsets[i] = this.ttlsAt[i]!;
    return offsets;
  }

  private hasRoomFor(octets: number): boolean {
    this.hasOverflowed = this.end + octets > MAX_MESSAGE_SIZE;
    return !this.hasOverflowed;
  }

  private copy(message: Uint8Array, from: number, to: number): boolean {
    if (!this.hasRoomFor(to - from)) return false;
    let at = this.end;
    for (let i = from; i < to; i++) this.image[at++] = message[i]!;
    this.end = at;
    return true;
  }

  private putRdata(message: Uint8Array, known: RdataLayout, at: number, end: number): boolean {
    let offset = firstNameAt(message, known, at, end);
    if (offset < 0 || !this.copy(message, at, offset)) return false;
    for (let i = 0; i < known.names; i++) {
      if (!expandRdataName(message, offset, end, this.name)) return false;
      offset = this.name.next;
      this.putName(this.name, known.compress);
      if (!this.hasRoomFor(0)) return false;
    }
    if (known.tail >= 0 && end - offset !== known.tail) return false;
    return this.copy(message, offset, end);
  }

  /** Writes a name: the labels that are not in the message yet, then a pointer or the root. */
  private putName(name: ExpandedName, compress: boolean): void {
    if (!compress) {
      this.image.set(name.wire.subarray(0, name.length), this.end);
      this.end += name.length;
      return;
    }
    if (!this.primed) this.prime();
    const labels = this.hashSuffixes(name.wire);
    let matched = labels;
    let pointer = 0;
    for (let label = 0; label < labels; label++) {
      pointer = this.findSuffix(name.wire, this.labelAt[label]!, this.labelHash[label]!);
      if (pointer !== 0) {
        matched = label;
        break;
      }
    }
    const start = this.end;
    const kept = matched === labels ? name.length : this.labelAt[matched]!;
    this.image.set(name.wire.subarray(0, kept), start);
    this.end = start + kept;
    if (matched < labels) {
      writeU16(this.image, this.end, 0xc000 | pointer);
      this.end += 2;
    }
    for (let label = 0; label < matched; label++) {
      this.addSuffix(start + this.labelAt[label]!, this.labelHash[label]!);
    }
  }

  /** Adds the question's name and its parents to the table, before the first name is compressed. */
  private prime(): void {
    this.primed = true;
    const qname = this.image.subarray(Header.SIZE, Header.SIZE + this.qnameLength);
    const labels = this.hashSuffixes(qname);
    for (let label = 0; label < labels; label++) {
      this.addSuffix(Header.SIZE + this.labelAt[label]!, this.labelHash[label]!);
    }
  }

  /** Fills label offsets and suffix hashes of a name; returns the number of labels. */
  private hashSuffixes(wire: Uint8Array): number {
    let labels = 0;
    for (let at = 0; wire[at] !== 0; at += wire[at]! + 1) this.labelAt[labels++] = at;
    let hash = this.seed;
    for (let label = labels - 1; label >= 0; label--) {
      const at = this.labelAt[label]!;
      for (let i = at + wire[at]!; i >= at; i--) {
        hash = Math.imul(hash ^ FOLD[wire[i]!]!, 0x9e3779b1);
        hash ^= hash >>> 15;
      }
      this.labelHash[label] = hash;
    }
    return labels;
  }

  private addSuffix(at: number, hash: number): void {
    if (at > MAX_POINTER || this.suffixes >= MAX_SUFFIXES) return;
    let slot = hash & (SUFFIX_SLOTS - 1);
    while (this.suffixAt[slot] !== 0) slot = (slot + 1) & (SUFFIX_SLOTS - 1);
    this.suffixAt[slot] = at;
    this.suffixHash[slot] = hash;
    this.suffixes++;
  }

  /** Offset of an equal suffix in the message; 0 = none. */
  private findSuffix(wire: Uint8Array, at: number, hash: number): number {
    let slot = hash & (SUFFIX_SLOTS - 1);
    while (this.suffixAt[slot] !== 0) {
      const pointer = this.suffixAt[slot]!;
      if (this.suffixHash[slot] === hash && this.equalsAt(pointer, wire, at)) return pointer;
      slot = (slot + 1) & (SUFFIX_SLOTS - 1);
    }
    return 0;
  }

  private equalsAt(pointer: number, wire: Uint8Array, at: number): boolean {
    const image = this.image;
    let offset = pointer;
    for (let i = at; ;) {
      while (image[offset]! >= 0xc0) offset = ((image[offset]! & 0x3f) << 8) | image[offset + 1]!;
      const size = image[offset]!;
      if (size !== wire[i]) return false;
      if (size === 0) return true;
      for (const end = i + size; i < end;) {
        i++;
        offset++;
        if (FOLD[image[offset]!] !== FOLD[wire[i]!]) return false;
      }
      i++;
      offset++;
    }
  }
}
