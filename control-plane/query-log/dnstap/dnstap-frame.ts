/**
 * A row of the query log as a dnstap frame (dnstap.proto, version 2): one CLIENT_RESPONSE per query, with the times of
 * query and response. Rows contain no messages, so the response is rebuilt from the data of the row: question, rcode,
 * and the answer records that fit into a log record. Its id is 0; the authority section, EDNS and ports are not known.
 */
import { nameToText } from '../../../shared/dns/name.ts';
import { isMappedIpv4 } from '../../../shared/net/ip.ts';
import {
  DNSSEC_STATUS_NAMES,
  isBlockedStatus,
  type ProtocolCode,
  QUERY_STATUS_NAMES,
} from '../../../shared/query-log.ts';
import type { QueryLogRow } from '../rows/row.ts';
import type { StoredParts } from '../block/open-block.ts';
import { ProtobufWriter } from './protobuf.ts';

/** Content type of the stream. */
export const DNSTAP_CONTENT = 'protobuf:dnstap.Dnstap';

/** Fields of `Dnstap`. */
const Frame = { IDENTITY: 1, VERSION: 2, EXTRA: 3, MESSAGE: 14, TYPE: 15 } as const;
const FRAME_TYPE_MESSAGE = 1;
/** Fields of `Message`. */
const Message = {
  TYPE: 1,
  SOCKET_FAMILY: 2,
  SOCKET_PROTOCOL: 3,
  QUERY_ADDRESS: 4,
  QUERY_TIME_SEC: 8,
  QUERY_TIME_NSEC: 9,
  RESPONSE_TIME_SEC: 12,
  RESPONSE_TIME_NSEC: 13,
  RESPONSE_MESSAGE: 14,
  POLICY: 15,
} as const;
const MESSAGE_TYPE_CLIENT_RESPONSE = 6;
const Family = { INET: 1, INET6: 2 } as const;
/** dnstap's `SocketProtocol` by Weir's protocol code, in this order: UDP, TCP, DOT, DOH. */
const SOCKET_PROTOCOLS: Readonly<Record<ProtocolCode, number>> = { 0: 1, 1: 2, 2: 3, 3: 4 };
/** Fields of `Policy`. */
const Policy = { TYPE: 1, RULE: 2 } as const;

/** QR, RD and RA, as in Weir's answers. */
const RESPONSE_FLAGS = 0x8180;
const HEADER_BYTES = 12;
const CLASS_IN = 1;
/** Maximum size in bytes of the text of a rule, an upstream or a list name. */
const MAX_TEXT = 1000;
const FRAME_BYTES = 8192;

/** Writes frames. */
export class DnstapFrames {
  private readonly identity: Buffer;
  private readonly version: Buffer;
  private readonly frame = new ProtobufWriter(FRAME_BYTES);
  private readonly message = new ProtobufWriter(FRAME_BYTES);
  private readonly policy = new ProtobufWriter(FRAME_BYTES);
  private readonly response = Buffer.alloc(FRAME_BYTES);
  private readonly client = new Uint8Array(16);

  /** `identity`: the node's name. */
  constructor(identity: string, version: string) {
    this.identity = Buffer.from(identity.slice(0, MAX_TEXT));
    this.version = Buffer.from(version);
  }

  /** The frame of a row, with only the parts in `kept`; valid until the next call. */
  frameOf(row: QueryLogRow, kept: StoredParts): Uint8Array {
    const { frame } = this;
    this.writeMessage(row, kept);
    frame.begin();
    frame.bytes(Frame.IDENTITY, this.identity);
    frame.bytes(Frame.VERSION, this.version);
    frame.bytes(Frame.EXTRA, Buffer.from(extraOf(row)));
    frame.bytes(Frame.MESSAGE, this.message.written());
    frame.varint(Frame.TYPE, FRAME_TYPE_MESSAGE);
    return frame.written();
  }

  private writeMessage(row: QueryLogRow, kept: StoredParts): void {
    const { message } = this;
    const queryUs = Math.round(row.timestampMs * 1000);
    const client = this.clientOf(row, kept);
    message.begin();
    message.varint(Message.TYPE, MESSAGE_TYPE_CLIENT_RESPONSE);
    message.varint(Message.SOCKET_FAMILY, client.length === 4 ? Family.INET : Family.INET6);
    message.varint(Message.SOCKET_PROTOCOL, SOCKET_PROTOCOLS[row.protocol]);
    message.bytes(Message.QUERY_ADDRESS, client);
    this.writeTime(Message.QUERY_TIME_SEC, queryUs);
    this.writeTime(Message.RESPONSE_TIME_SEC, queryUs + row.responseTimeUs);
    message.bytes(Message.RESPONSE_MESSAGE, this.responseOf(row, kept));
    if (row.rule !== null) message.bytes(Message.POLICY, this.policyOf(row));
  }

  /** Writes seconds to a field, and nanoseconds to the next one. */
  private writeTime(field: number, timeUs: number): void {
    this.message.varint(field, Math.floor(timeUs / 1e6));
    this.message.fixed32(field + 1, (timeUs % 1e6) * 1000);
  }

  /** The client's address, truncated to the part that may be stored. */
  private clientOf({ bytes, client }: QueryLogRow, { ipv4Bytes, ipv6Bytes }: StoredParts): Uint8Array {
    const isMapped = client.length === 16 && isMappedIpv4(bytes, client.at);
    const at = isMapped ? client.at + 12 : client.at;
    const length = isMapped ? 4 : client.length;
    const address = this.client.subarray(0, length);
    address.set(bytes.subarray(at, at + length));
    return address.fill(0, length === 4 ? ipv4Bytes : ipv6Bytes);
  }

  private responseOf({ bytes, qname, qtype, rcode, answers }: QueryLogRow, kept: StoredParts): Uint8Array {
    const { response } = this;
    const answersLength = kept.answers ? answers.length : 0;
    const answersAt = HEADER_BYTES + qname.length + 4;
    response.fill(0, 0, HEADER_BYTES);
    response.writeUInt16BE(RESPONSE_FLAGS | (rcode & 15), 2);
    response.writeUInt16BE(1, 4);
    response.set(bytes.subarray(qname.at, qname.at + qname.length), HEADER_BYTES);
    response.writeUInt16BE(qtype, answersAt - 4);
    response.writeUInt16BE(CLASS_IN, answersAt - 2);
    response.set(bytes.subarray(answers.at, answers.at + answersLength), answersAt);
    const message = response.subarray(0, answersAt + answersLength);
    response.writeUInt16BE(countRecords(message, answersAt), 6);
    return message;
  }

  /** The deciding list, filter, service or schedule, and its rule. */
  private policyOf({ rule, ruleName, bytes }: QueryLogRow): Uint8Array {
    const { source, before, atName, after } = rule!;
    const name = atName ? nameToText(bytes.subarray(ruleName.at, ruleName.at + ruleName.length)) : '';
    this.policy.begin();
    this.policy.bytes(Policy.TYPE, Buffer.from(source.slice(0, MAX_TEXT)));
    this.policy.bytes(Policy.RULE, Buffer.from(`${before}${name}${after}`.slice(0, MAX_TEXT)));
    return this.policy.written();
  }
}

/** Data for which dnstap has no field, as JSON. */
function extraOf(row: QueryLogRow): string {
  return JSON.stringify({
    status: QUERY_STATUS_NAMES[row.status],
    blocked: isBlockedStatus(row.status),
    group_id: row.groupId,
    cached: row.cached,
    dnssec: DNSSEC_STATUS_NAMES[row.dnssec],
    upstream: row.upstream?.slice(0, MAX_TEXT) ?? null,
  });
}

/** Number of resource records from `start` to the end; all records are complete. */
function countRecords(message: Uint8Array, start: number): number {
  const view = new DataView(message.buffer, message.byteOffset, message.length);
  let count = 0;
  for (let at = start; at < message.length; count++) {
    while (message[at]! !== 0 && message[at]! < 0xc0) at += message[at]! + 1;
    at += message[at] === 0 ? 1 : 2;
    at += 10 + view.getUint16(at + 8);
  }
  return count;
}
