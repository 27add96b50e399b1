/** Removes the DNSSEC proofs from an answer that was requested with DO, for a client that did not set DO. */
import { FlagsHigh, FlagsLow, Header, QUESTION_TAIL_SIZE, writeU16 } from '../../../shared/dns/wire.ts';
import type { CacheableAnswer } from './cacheable-answer.ts';
import type { Question } from './question.ts';
import { readResponse } from './response-reader.ts';

/**
 * The message of an answer in the form in which Weir stores it: a header that the caller fills in, the question, the
 * records.
 */
export function answerImage(qname: Uint8Array, answer: CacheableAnswer): Uint8Array {
  const bodyAt = Header.SIZE + qname.length + QUESTION_TAIL_SIZE;
  const image = new Uint8Array(bodyAt + answer.body.length);
  image.set(qname, Header.SIZE);
  image.set(answer.body, bodyAt);
  return image;
}

/** The answer in the form that a client without DO gets (RFC 4035 section 3.2.1). */
export function withoutProofs(question: Question, answer: CacheableAnswer): CacheableAnswer {
  const image = answerImage(question.qname, answer);
  image[Header.FLAGS_HIGH] = FlagsHigh.QR;
  image[Header.FLAGS_LOW] = FlagsLow.RA | (answer.rcode & FlagsLow.RCODE);
  writeU16(image, Header.QDCOUNT, 1);
  writeU16(image, Header.ANCOUNT, answer.answerCount);
  writeU16(image, Header.NSCOUNT, answer.authorityCount);
  const questionAt = Header.SIZE + question.qname.length;
  writeU16(image, questionAt, question.qtype);
  writeU16(image, questionAt + 2, question.qclass);
  const reading = readResponse(image, question);
  if (reading.kind !== 'answer')
    throw new Error('could not remove the proofs from an answer: it cannot be read');
  const minTtlSecs = Math.min(reading.answer.minTtlSecs, answer.minTtlSecs);
  const { ecsScope, extendedError } = answer;
  return { ...reading.answer, minTtlSecs, ecsScope, extendedError };
}
