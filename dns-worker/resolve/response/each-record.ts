/** Reads the answer section of a stored answer record by record. */
import { Record, readU16, readU32, skipName } from '../../../shared/dns/wire.ts';
import type { CacheableAnswer } from './cacheable-answer.ts';

/** One record; `rdata` is a view of the answer's body. */
export interface AnswerRecord {
  readonly type: number;
  readonly ttlSecs: number;
  readonly rdata: Uint8Array;
}

/** The records of the answer section in order, with any owner. */
export function* eachAnswerRecord({ body, answerCount }: CacheableAnswer): Generator<AnswerRecord> {
  for (let at = 0, i = 0; i < answerCount; i++) {
    const fixed = skipName(body, at, body.length);
    const rdata = fixed + Record.RDATA;
    const end = rdata + readU16(body, fixed + Record.RDLENGTH);
    const type = readU16(body, fixed);
    yield { type, ttlSecs: readU32(body, fixed + Record.TTL), rdata: body.subarray(rdata, end) };
    at = end;
  }
}
