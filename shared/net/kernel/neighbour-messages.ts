/**
 * Parses the kernel's neighbour tables: messages of rtnetlink (rtnetlink(7), <linux/neighbour.h>) with ARP and IPv6
 * neighbours, and the text of /proc/net/arp, which has only ARP. Pure functions.
 */
import { addressFromText, addressToText } from '../ip.ts';
import { canonicalMac, macToText } from '../mac.ts';

/** An address on a network of this machine, and the MAC to which it resolves. */
export interface Neighbour {
  readonly address: string;
  readonly mac: string;
}

const isLittle = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const HEADER_BYTES = 16;
const BODY_BYTES = 12;
const ATTRIBUTE_BYTES = 4;
const MAC_BYTES = 6;
const NO_MAC = '00:00:00:00:00:00';

const MessageType = { ERROR: 2, DONE: 3, NEW_NEIGHBOUR: 28, GET_NEIGHBOUR: 30 } as const;
const Attribute = { ADDRESS: 1, MAC: 2 } as const;
/** Flags of the request: NLM_F_REQUEST and NLM_F_DUMP. */
const DUMP_FLAGS = 0x301;
/** NUD_INCOMPLETE, NUD_FAILED and NUD_NOARP: no neighbour has answered, or the interface does not use ARP. */
const NOT_ANSWERED = 0x01 | 0x20 | 0x40;
/** NTF_PROXY: an address for which this machine answers. */
const PROXY_FLAG = 0x08;

/** Requests the tables of all families. */
export function neighbourRequest(): Uint8Array {
  const message = new Uint8Array(HEADER_BYTES + BODY_BYTES);
  const view = new DataView(message.buffer);
  view.setUint32(0, message.length, isLittle);
  view.setUint16(4, MessageType.GET_NEIGHBOUR, isLittle);
  view.setUint16(6, DUMP_FLAGS, isLittle);
  return message;
}

/** Adds the neighbours in one datagram to `found`; returns whether the datagram was the kernel's last one. */
export function readNeighbours(datagram: Uint8Array, found: Neighbour[]): boolean {
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  for (let at = 0; at + HEADER_BYTES <= datagram.length;) {
    const length = view.getUint32(at, isLittle);
    const type = view.getUint16(at + 4, isLittle);
    if (length < HEADER_BYTES || at + length > datagram.length) return true;
    if (type === MessageType.DONE || type === MessageType.ERROR) return true;
    if (type === MessageType.NEW_NEIGHBOUR) {
      const neighbour = readNeighbour(datagram, view, at + HEADER_BYTES, at + length);
      if (neighbour !== null) found.push(neighbour);
    }
    at += (length + 3) & ~3;
  }
  return false;
}

function readNeighbour(bytes: Uint8Array, view: DataView, at: number, end: number): Neighbour | null {
  if (at + BODY_BYTES > end) return null;
  const state = view.getUint16(at + 8, isLittle);
  if ((state & NOT_ANSWERED) !== 0 || (bytes[at + 10]! & PROXY_FLAG) !== 0) return null;
  let address: string | null = null;
  let mac: string | null = null;
  for (let next = at + BODY_BYTES; next + ATTRIBUTE_BYTES <= end;) {
    const length = view.getUint16(next, isLittle);
    if (length < ATTRIBUTE_BYTES || next + length > end) break;
    const value = bytes.subarray(next + ATTRIBUTE_BYTES, next + length);
    const type = view.getUint16(next + 2, isLittle);
    if (type === Attribute.ADDRESS) address = addressText(value);
    if (type === Attribute.MAC && value.length === MAC_BYTES) mac = macToText(value);
    next += (length + 3) & ~3;
  }
  return address === null || mac === null || mac === NO_MAC ? null : { address, mac };
}

function addressText(value: Uint8Array): string | null {
  if (value.length === 4) return value.join('.');
  return value.length === 16 ? addressToText(value) : null;
}

/** ATF_COM: an entry whose MAC is known. */
const COMPLETE_FLAG = 0x02;

/** Neighbours of /proc/net/arp. */
export function readArpText(text: string): Neighbour[] {
  const found: Neighbour[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [address = '', , flags = '', hardware = ''] = line.split(/\s+/);
    const mac = canonicalMac(hardware);
    if ((Number(flags) & COMPLETE_FLAG) === 0 || mac === null || mac === NO_MAC) continue;
    if (addressFromText(address) !== null) found.push({ address, mac });
  }
  return found;
}
