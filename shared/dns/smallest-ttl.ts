/** How long a reply may be kept (RFC 8484 section 5.1). */
import { RRType } from './iana.ts';
import { Header, QUESTION_TAIL_SIZE, readU16, readU32, Record, skipName } from './wire.ts';

/** MINIMUM is the last field of a SOA record (RFC 1035 section 3.3.13). */
const SOA_MINIMUM_SIZE = 4;

/**
 * Seconds: the smallest TTL of the answer section; where that is empty, the negative TTL of the SOA record in the
 * authority section (RFC 2308 section 5); 0 if there is neither. The reply is one of Weir's own and well-formed.
 */
export function smallestTtl(reply: Uint8Array): number {
  let at: number = Header.SIZE;
  if (readU16(reply, Header.QDCOUNT) === 1) at = skipName(reply, at, reply.length) + QUESTION_TAIL_SIZE;
  const answers = readU16(reply, Header.ANCOUNT);
  const records = answers === 0 ? readU16(reply, Header.NSCOUNT) : answers;
  let smallest = Infinity;
  for (let i = 0; i < records; i++) {
    const tail = skipName(reply, at, reply.length);
    const end = tail + Record.RDATA + readU16(reply, tail + Record.RDLENGTH);
    const ttl = readU32(reply, tail + Record.TTL);
    if (answers > 0) smallest = Math.min(smallest, ttl);
    else if (readU16(reply, tail) === RRType.SOA)
      smallest = Math.min(smallest, ttl, readU32(reply, end - SOA_MINIMUM_SIZE));
    at = end;
  }
  return smallest === Infinity ? 0 : smallest;
}
