/**
 * A request and its question, read from their record. One object of each kind is reused for all requests, so that no
 * garbage is created.
 */
import { COOKIE_SIZE, FlagsLow, Header, QUESTION_TAIL_SIZE, readU16 } from '../../shared/dns/wire.ts';
import { FOLD, MAX_NAME_LENGTH } from '../../shared/dns/name.ts';
import { MissFlags, MissRecord } from '../../shared/memory/miss-ring.ts';
import { CONTROL_SIZE, NAME_SIZE } from '../../shared/net/kernel/kernel-messages.ts';
import { Protocol } from '../../shared/query-log.ts';
import type { ClientRequest } from '../forward/waiting-request.ts';
import type { UdpOrigin, UdpReply } from '../listeners/udp-reply.ts';
import { copyBytes, type MissRecords } from '../misses/miss-records.ts';
import type { Question } from '../resolve/response/question.ts';

/** Bytes of varying length in one buffer; there is one view per length. */
class ReusedBytes {
  private readonly bytes: Uint8Array;
  private readonly views: Uint8Array[] = [];

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
  }

  ofLength(length: number): Uint8Array {
    return (this.views[length] ??= this.bytes.subarray(0, length));
  }
}

/** A question in the form that validation needs: with DO, even if the server is not known to support DO. */
class ProofQuestion implements Question {
  qname: Uint8Array = new Uint8Array(0);
  qtype = 0;
  qclass = 0;
  readonly dnssecOk = true;
  readonly checkingDisabled = true;
  readonly ecs = null;
}

/** The question of a record. */
export class TriedQuestion implements Question {
  qname: Uint8Array = new Uint8Array(0);
  qtype = 0;
  qclass = 0;
  dnssecOk = false;
  checkingDisabled = false;
  readonly ecs = null;
  readonly withProofs = new ProofQuestion();
  private readonly names = new ReusedBytes(MAX_NAME_LENGTH);

  load(records: MissRecords, at: number): void {
    const { bytes } = records;
    const message = at + MissRecord.MESSAGE;
    const length = records.messageLength(at) - Header.SIZE - QUESTION_TAIL_SIZE;
    const tail = message + Header.SIZE + length;
    this.qname = this.names.ofLength(length);
    for (let i = 0; i < length; i++) this.qname[i] = FOLD[bytes[message + Header.SIZE + i]!]!;
    this.qtype = readU16(bytes, tail);
    this.qclass = readU16(bytes, tail + 2);
    this.dnssecOk = records.has(at, MissFlags.DNSSEC_OK);
    this.checkingDisabled = (bytes[message + Header.FLAGS_LOW]! & FlagsLow.CD) !== 0;
    this.withProofs.qname = this.qname;
    this.withProofs.qtype = this.qtype;
    this.withProofs.qclass = this.qclass;
  }
}

/** The request of a record. */
export class TriedRequest implements ClientRequest {
  readonly kind = 'client';
  message: Uint8Array = new Uint8Array(0);
  readonly client = new Uint8Array(16);
  readonly clientKey = '';
  readonly protocol = Protocol.udp;
  arrivedMs = 0;
  arrivedMonotonicMs = 0;
  udpSize = 0;
  dnssecOk = false;
  readonly ecs = null;
  passedVersion = 0;
  readonly isOwn = false;
  cookie: Uint8Array | null = null;
  hasValidCookie = false;
  readonly streamOptions = 0;
  isRateLimited = false;
  readonly firstTry = null;
  /** Whether a reply was sent. */
  isAnswered = false;
  private readonly replies: UdpReply;
  private readonly messages = new ReusedBytes(Header.SIZE + MAX_NAME_LENGTH + QUESTION_TAIL_SIZE);
  private readonly origins = new ReusedBytes(NAME_SIZE + CONTROL_SIZE);
  private readonly cookies = new Uint8Array(COOKIE_SIZE);
  private readonly origin: { -readonly [field in keyof UdpOrigin]: UdpOrigin[field] } = {
    socket: 0,
    nameLength: 0,
    bytes: new Uint8Array(0),
  };

  constructor(replies: UdpReply) {
    this.replies = replies;
  }

  load(records: MissRecords, at: number): void {
    const { bytes } = records;
    this.isAnswered = false;
    this.message = this.messages.ofLength(records.messageLength(at));
    copyBytes(bytes, at + MissRecord.MESSAGE, this.message, 0, this.message.length);
    // Clears the counts of the sections after the question, because these sections were not copied.
    this.message.fill(0, Header.ANCOUNT, Header.SIZE);
    copyBytes(bytes, at + MissRecord.CLIENT, this.client, 0, this.client.length);
    this.arrivedMs = records.arrivedMs(at);
    this.arrivedMonotonicMs = records.arrivedMonotonicMs(at);
    this.udpSize = records.udpSize(at);
    this.dnssecOk = records.has(at, MissFlags.DNSSEC_OK);
    this.passedVersion = records.passedVersion(at);
    this.hasValidCookie = records.has(at, MissFlags.VALID_COOKIE);
    this.isRateLimited = records.has(at, MissFlags.RATE_LIMITED);
    this.cookie = records.has(at, MissFlags.COOKIE) ? this.cookies : null;
    copyBytes(bytes, at + MissRecord.COOKIE, this.cookies, 0, COOKIE_SIZE);
    const nameLength = bytes[at + MissRecord.NAME_LENGTH]!;
    const controlLength = bytes[at + MissRecord.CONTROL_LENGTH]!;
    const { origin } = this;
    origin.socket = records.socket(at);
    origin.nameLength = nameLength;
    origin.bytes = this.origins.ofLength(nameLength + controlLength);
    copyBytes(bytes, at + MissRecord.NAME, origin.bytes, 0, nameLength);
    copyBytes(bytes, at + MissRecord.CONTROL, origin.bytes, nameLength, controlLength);
  }

  send(reply: Uint8Array): void {
    this.isAnswered = true;
    this.replies.send(reply, this.origin);
  }
}
