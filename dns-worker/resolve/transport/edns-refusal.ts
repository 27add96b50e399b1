/** How a server that does not know EDNS refuses a query with an OPT record (RFC 6891 section 7). */
import { Rcode } from '../../../shared/dns/iana.ts';
import { FlagsHigh, FlagsLow, Header, readU16 } from '../../../shared/dns/wire.ts';

/** Whether a response code, in a response without OPT record, may mean that. */
export function isRefusal(rcode: number): boolean {
  return rcode === Rcode.FORMERR || rcode === Rcode.NOTIMP;
}

/** Whether a response to a query with an OPT record may mean that: it has no record in the additional section. */
export function refusesEdns(message: Uint8Array): boolean {
  return readU16(message, Header.ARCOUNT) === 0 && isRefusal(message[Header.FLAGS_LOW]! & FlagsLow.RCODE);
}

/**
 * Whether a message says that its server could not read a query, and so does not repeat the question: FORMERR or NOTIMP
 * and nothing else. The id is the exchange's to compare.
 */
export function isBareRefusal(message: Uint8Array): boolean {
  if (message.length !== Header.SIZE) return false;
  if ((message[Header.FLAGS_HIGH]! & (FlagsHigh.QR | FlagsHigh.OPCODE)) !== FlagsHigh.QR) return false;
  for (let at: number = Header.QDCOUNT; at < Header.SIZE; at++) if (message[at] !== 0) return false;
  return isRefusal(message[Header.FLAGS_LOW]! & FlagsLow.RCODE);
}
