/** Answers in the form that the cache stores, built from uncompressed records without validation. */
import type { CacheableAnswer } from '../../../dns-worker/resolve/response/cacheable-answer.ts';
import { RRClass, RRType } from '../../../shared/dns/iana.ts';
import { type TestRecord, octets, u16, u32, wireName } from './built-messages.ts';

/** A positive answer with these records. */
export function answerWith(records: readonly TestRecord[]): CacheableAnswer {
  const body = octets(...records.map(recordOctets));
  return {
    rcode: 0,
    authenticated: false,
    answerCount: records.length,
    authorityCount: 0,
    body,
    ttlOffsets: new Uint16Array(0),
    minTtlSecs: 300,
    negative: false,
    answersLength: body.length,
    ecsScope: 0,
  };
}

function recordOctets({ owner, type, ttl, rdata }: TestRecord): Uint8Array {
  const name = typeof owner === 'string' ? wireName(owner) : owner;
  const code = typeof type === 'number' ? type : RRType[type];
  return octets(name, u16(code), u16(RRClass.IN), u32(ttl), u16(rdata.length), rdata);
}
