/**
 * The data of the stages: the one reusable Query of a thread, and the set of stage results. A Query is a view of the
 * message in the receive slot, plus the results of earlier stages; `parse-query.ts` fills it, and a Query is valid for
 * one turn.
 */
import { EcsData } from '../../shared/dns/ecs-option.ts';
import { MAX_LABELS, MAX_NAME_LENGTH } from '../../shared/dns/name.ts';
import { COOKIE_SIZE } from '../../shared/dns/wire.ts';
import { LimitReason, type LimitReasonCode } from '../../shared/memory/answer-counters.ts';
import {
  DnssecStatus,
  type DnssecStatusCode,
  Exclusion,
  type ExclusionBits,
  LogMark,
  type LogMarkCode,
  Protocol,
  type ProtocolCode,
  QueryStatus,
  type QueryStatusCode,
} from '../../shared/query-log.ts';
import { RuleOrigin, type RuleOriginCode } from '../../shared/snapshot/rule-origin.ts';
import type { KeyedClient } from '../../shared/snapshot/keyed-clients.ts';
import { POOLS_PARTITION } from '../../shared/snapshot/forward-zone-servers.ts';

/** Outcome of a stage. */
export const StageResult = {
  /** The next stage runs. */
  CONTINUE: 0,
  /** The answer is in the slot, `replyLength` bytes long. */
  ANSWERED: 1,
  /** No answer is sent. */
  DROPPED: 2,
  /** The question goes to the resolver. */
  UNRESOLVED: 3,
} as const;
export type StageResultCode = (typeof StageResult)[keyof typeof StageResult];

/** Value if no extended error is added to a reply. */
export const NO_EDE = -1;

/** Space for a name and for whole words at its end: 255 + 9, a multiple of 4. */
const QNAME_BUFFER_SIZE = MAX_NAME_LENGTH + 9;

/** One client request in flight. One object per thread; its fields are overwritten for each request. */
export class Query {
  /** Buffer of the message, its offset and its length. */
  bytes: Uint8Array = new Uint8Array(0);
  /** The same buffer, for unaligned words; up to four bytes beyond the end of the message can be read and written. */
  view: DataView = new DataView(new ArrayBuffer(0));
  at = 0;
  length = 0;
  /** Bytes from `at` that an answer may fill. */
  capacity = 0;
  /** Length of the answer written at `at`. */
  replyLength = 0;

  /** Client address, 16 bytes (IPv4 as ::ffff:a.b.c.d), in `clientBytes` from `clientAt`. */
  clientBytes: Uint8Array = new Uint8Array(16);
  clientAt = 0;
  protocol: ProtocolCode = Protocol.udp;
  /**
   * The client key sent over TLS or HTTPS, in lower case, '' = none; and the client with that key, null = none. Threads
   * without TLS and HTTPS do not use these fields.
   */
  clientKey = '';
  keyed: KeyedClient | null = null;
  /** Represents the client if policy knows its MAC but not its address yet, see `macIdentity`; null in other cases. */
  identity: Uint8Array | null = null;
  /** Wall clock of arrival, seconds and milliseconds. */
  arrivedSecs = 0;
  arrivedMs = 0;
  /** Arrival on the monotonic clock that all threads share, milliseconds, and whole seconds, which the cache uses. */
  arrivedMonotonicMs = 0;
  arrivedMonotonicSecs = 0;

  /**
   * The qname in lower-case wire form, padded with zeros to a whole word, and its length including the final zero; then
   * the same memory as words, and as a view for unaligned words.
   */
  readonly qname: Uint8Array = new Uint8Array(QNAME_BUFFER_SIZE);
  readonly qnameWords: Int32Array = new Int32Array(this.qname.buffer);
  readonly qnameView: DataView = new DataView(this.qname.buffer);
  qnameLength = 0;
  /** Offsets of the labels in `qname`, first label first. */
  readonly labelAt: Uint8Array = new Uint8Array(MAX_LABELS + 1);
  labelCount = 0;
  /** Hash lanes of each suffix of the name, by the label at which the suffix starts; see `shared/dns/name.ts`. */
  readonly hashLow: Int32Array = new Int32Array(MAX_LABELS + 1);
  readonly hashHigh: Int32Array = new Int32Array(MAX_LABELS + 1);
  /** Whether the qname stands for an address in an answer (see `address-name.ts`); never true for a request. */
  isAddress = false;
  /** Bytes of the address, and their number (4 or 16). */
  readonly address: Uint8Array = new Uint8Array(16);
  addressSize = 0;
  qtype = 0;
  qclass = 0;
  /** Offset from `at` of the first byte after the question. */
  questionEnd = 0;

  /** Whether the request has an OPT record, and its fields (RFC 6891). */
  hasEdns = false;
  ednsVersion = 0;
  dnssecOk = false;
  /** Maximum size of an answer over UDP that the client accepts, at least 512. */
  udpSize = 0;
  /** Offset of the options of the OPT record in `bytes`. */
  optionsAt = 0;
  optionsEnd = 0;
  /**
   * The client's subnet as received (RFC 7871), if it is forwarded, and its length; 0 = none. The scope for the reply:
   * the prefix length for which the answer is valid, 0 = for all clients.
   */
  readonly ecs: Uint8Array = new Uint8Array(EcsData.MAX_SIZE);
  ecsLength = 0;
  ecsScope = 0;
  /** The cookie of the reply (RFC 7873), and its length; 0 = none. */
  readonly cookie: Uint8Array = new Uint8Array(COOKIE_SIZE);
  cookieLength = 0;
  /** Whether the server cookie was valid, so that the client's address is not forged. */
  hasValidCookie = false;
  /** Options in the reply over a connection, bits of `StreamOption`. */
  streamOptions = 0;
  recursionDesired = false;
  checkingDisabled = false;
  authenticDataWanted = false;

  /**
   * Partition of the cache for this name: `POOLS_PARTITION`, or the partition of the name's forward zone, whose index
   * in the snapshot is `zoneIndex`.
   */
  partition = POOLS_PARTITION;
  zoneIndex = -1;

  /** Index of the record in the client table that gave the group; index of the group in the policy table. */
  clientRecord = 0;
  groupIndex = 0;
  groupId = 0;
  /** Whether the client may send queries. */
  isAdmitted = true;

  /**
   * If the qname is an alias whose target is not resolved: the target in lower-case wire form; the answer so far
   * consists of the CNAME records that lead to it. Length 0 = none. `status` and `replyFlags` are those of the answer.
   */
  readonly alias: Uint8Array = new Uint8Array(MAX_NAME_LENGTH);
  aliasLength = 0;

  /** Status of the query in the log. */
  status: QueryStatusCode = QueryStatus.ALLOWED;
  rcode = 0;
  cached = 0;
  dnssec: DnssecStatusCode = DnssecStatus.unchecked;
  upstream = 0;
  /** Attribute id of the deciding rule plus one; 0 = none. */
  ruleAttribute = 0;
  ruleNameOffset = 0;
  ruleKind = 0;
  /** `RuleOrigin` of that rule; for a special rule, `ruleAttribute` is the index of the rule plus one. */
  ruleOrigin: RuleOriginCode = RuleOrigin.LIST;
  /** If the rule matched a name of the answer: that name in wire form, in which `ruleNameOffset` is then an offset. */
  readonly ruleName: Uint8Array = new Uint8Array(MAX_NAME_LENGTH);
  ruleNameLength = 0;
  /**
   * Unix seconds at which the deciding grant ends, or the grant that allows everything; NO_END_SECS = without end; 0 =
   * no such grant.
   */
  grantEndsAtSecs = 0;
  /**
   * Whether nothing may block the query: blocking is disabled, or a grant or the group's schedule allows everything.
   * Only a grant or schedule bypasses safe search (contract: decision order); see `policy/freed-query.ts`.
   */
  isUnfiltered = false;
  /**
   * Whether an allow rule matched the qname: lists then do not apply to names in the answer. If the rule is from a
   * list, services and manual rules still apply.
   */
  isAllowed = false;
  isAllowedByList = false;
  /**
   * Whether the answer refers to other names (CNAME, DNAME, SVCB, HTTPS); and the position of the answer in the cache,
   * if it came from the cache.
   */
  hasTargets = false;
  /** Whether the answer contains a private address. */
  hasPrivateAddress = false;
  cacheReference = 0;
  /** Answer RRs in the reply: offset from `at`, bytes, count. */
  answersAt = 0;
  answersLength = 0;
  answersCount = 0;
  /** Number of authority RRs in the reply. */
  authorityCount = 0;
  /** Number of additional RRs in the reply, without OPT. */
  additionalCount = 0;
  /** FlagsHigh.AA and FlagsLow.AD of the reply; the bits do not overlap. */
  replyFlags = 0;
  /** Extended error in the reply, or NO_EDE. */
  extendedError = NO_EDE;
  /** Whether Weir itself sent the query, which is then always allowed, and neither logged nor counted. */
  isOwn = false;
  /** Whether the query is logged and counted. */
  logMark: LogMarkCode = LogMark.COUNTED;
  /** Whether the query's client or name excludes it from the log or from statistics. */
  exclusion: ExclusionBits = Exclusion.NONE;
  /** The exceeded limit of the client's network, for the log, even if the query was answered (dry run). */
  limitedBy: LimitReasonCode = LimitReason.NONE;
  /** Whether the resolve thread should refresh the cached answer, which is in use and expires soon. */
  wantsRefresh = false;

  /** Copies the arrival time of another query. */
  copyArrival(from: Query): void {
    this.arrivedSecs = from.arrivedSecs;
    this.arrivedMs = from.arrivedMs;
    this.arrivedMonotonicMs = from.arrivedMonotonicMs;
    this.arrivedMonotonicSecs = from.arrivedMonotonicSecs;
  }

  /** Points the query at a message and resets all fields. */
  begin(bytes: Uint8Array, at: number, length: number, capacity: number): void {
    if (this.bytes !== bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.at = at;
    this.length = length;
    this.capacity = capacity;
    this.replyLength = 0;
    this.resetRequest();
    this.resetDecision();
    this.resetAnswer();
  }

  /** Resets the fields of the message. */
  private resetRequest(): void {
    this.qnameLength = 0;
    this.labelCount = 0;
    this.qtype = 0;
    this.qclass = 0;
    this.questionEnd = 0;
    this.hasEdns = false;
    this.ednsVersion = 0;
    this.dnssecOk = false;
    this.udpSize = 512;
    this.ecsLength = 0;
    this.ecsScope = 0;
    this.cookieLength = 0;
    this.hasValidCookie = false;
    this.streamOptions = 0;
  }

  /** Resets the client and the results of policy. */
  private resetDecision(): void {
    this.clientRecord = 0;
    this.partition = POOLS_PARTITION;
    this.zoneIndex = -1;
    this.groupIndex = 0;
    this.groupId = 1;
    this.isAdmitted = true;
    this.ruleAttribute = 0;
    this.ruleNameOffset = 0;
    this.ruleKind = 0;
    this.ruleOrigin = RuleOrigin.LIST;
    this.ruleNameLength = 0;
    this.grantEndsAtSecs = 0;
    this.isUnfiltered = false;
    this.isAllowed = false;
    this.isAllowedByList = false;
    this.isOwn = false;
    this.logMark = LogMark.COUNTED;
    this.exclusion = Exclusion.NONE;
    this.limitedBy = LimitReason.NONE;
  }

  private resetAnswer(): void {
    this.aliasLength = 0;
    this.status = QueryStatus.ALLOWED;
    this.rcode = 0;
    this.upstream = 0;
    this.wantsRefresh = false;
    this.hasTargets = false;
    this.hasPrivateAddress = false;
    this.cacheReference = 0;
    this.answersAt = 0;
    this.discardAnswer();
  }

  /** Discards the answer so far, before this server writes its own answer, which is not validated. */
  discardAnswer(): void {
    this.cached = 0;
    this.answersLength = 0;
    this.answersCount = 0;
    this.authorityCount = 0;
    this.additionalCount = 0;
    this.replyFlags = 0;
    this.dnssec = DnssecStatus.unchecked;
    this.extendedError = NO_EDE;
  }

  /** Stores the data of an ECS option, 4 to 20 bytes. */
  setEcs(from: Uint8Array, at: number, length: number): void {
    for (let i = 0; i < length; i++) this.ecs[i] = from[at + i]!;
    this.ecsLength = length;
  }

  /** Stores a cookie of `COOKIE_SIZE` bytes for the reply. */
  setCookie(from: Uint8Array): void {
    for (let i = 0; i < COOKIE_SIZE; i++) this.cookie[i] = from[i]!;
    this.cookieLength = COOKIE_SIZE;
  }

  /** A copy of the cookie; null = none. */
  copyCookie(): Uint8Array | null {
    return this.cookieLength === 0 ? null : this.cookie.slice();
  }

  /** A copy of the subnet; null = none. */
  copyEcs(): Uint8Array | null {
    return this.ecsLength === 0 ? null : this.ecs.slice(0, this.ecsLength);
  }

  /** Whether the answer may differ for other subnets, so that the shared cache is neither read nor written. */
  get isEcsSpecific(): boolean {
    return this.ecsLength > EcsData.ADDRESS;
  }
}

/** The name that the deciding rule matched, in wire form: the queried name, or one in the answer. */
export function matchedName({ qname, qnameLength, ruleName, ruleNameLength }: Query): Uint8Array {
  return ruleNameLength > 0 ? ruleName.slice(0, ruleNameLength) : qname.slice(0, qnameLength);
}
