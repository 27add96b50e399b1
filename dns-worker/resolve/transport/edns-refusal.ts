/** Responses of servers without EDNS support to a query with an OPT record (RFC 6891 section 7). */
import { Rcode } from '../../../shared/dns/iana.ts';
import { FlagsHigh, FlagsLow, Header, readU16 } from '../../../shared/dns/wire.ts';

/** Whether a response code, in a response without an OPT record, may be a refusal of EDNS. */
export function isRefusal(rcode: number): boolean {
  return rcode === Rcode.FORMERR || rcode === Rcode.NOTIMP;
}

/** Whether a response to a query with an OPT record may be a refusal of EDNS: its additional section is empty. */
export function refusesEdns(message: Uint8Array): boolean {
  return readU16(message, Header.ARCOUNT) === 0 && isRefusal(message[Header.FLAGS_LOW]! & FlagsLow.RCODE);
}

/**
 * Whether a message reports that the server could not read the query, and therefore does not repeat the question: only
 * FORMERR or NOTIMP. The exchange compares the id.
 */
export function isBareRefusal(message: Uint8Array): boolean {
  if (message.length !== Header.SIZE) return false;
  if ((message[Header.FLAGS_HIGH]! & (FlagsHigh.QR | FlagsHigh.OPCODE)) !== FlagsHigh.QR) return false;
  for (let at: number = Header.QDCOUNT; at < Header.SIZE; at++) if (message[at] !== 0) return false;
  return isRefusal(message[Header.FLAGS_LOW]! & FlagsLow.RCODE);
}
