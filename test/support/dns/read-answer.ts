/** Builds messages, parses them with `readResponse`, and returns the results in a form that tests can compare. */
import { decodeMessage } from '../../../shared/dns/codec.ts';
import type { DecodedPacket } from '../../../shared/dns/codec.ts';
import { octets, question, response, u16 } from './built-messages.ts';
import type { TestResponse } from './built-messages.ts';
import type { Question } from '../../../dns-worker/resolve/response/question.ts';
import type {
  CacheableAnswer,
  ResponseReading,
} from '../../../dns-worker/resolve/response/response-reader.ts';
import { readResponse } from '../../../dns-worker/resolve/response/response-reader.ts';

/** Questions without and with DO. */
export const WWW = question('www.example.org', 'A');
export const WWW_DO = question('www.example.org', 'A', { dnssecOk: true });

/** The complete message that a client would receive. */
export function assemble(asked: Question, answer: CacheableAnswer): Uint8Array {
  const flags = 0x8180 | (answer.rcode & 0xf);
  const counts = [1, answer.answerCount, answer.authorityCount, 0].flatMap(u16);
  return octets([0, 0], u16(flags), counts, asked.qname, u16(asked.qtype), u16(asked.qclass), answer.body);
}

/** The parsed answer; any other result fails the test. */
export function answerOf(reading: ResponseReading): CacheableAnswer {
  if (reading.kind !== 'answer') throw new Error(`read response: ${JSON.stringify(reading)}`);
  return reading.answer;
}

/** The parsed answer to `asked` in a message with these parts. */
export function read(asked: Question, parts: TestResponse): CacheableAnswer {
  return answerOf(readResponse(response(asked, parts), asked));
}

/** The answer as parsed by dns-packet. */
export function decoded(asked: Question, answer: CacheableAnswer): DecodedPacket {
  const packet = decodeMessage(assemble(asked, answer));
  if (packet === null) throw new Error('decode: the normalised answer is not a valid message');
  return packet;
}

/** `owner type ttl` of each record in the parsed answer, answers before authorities. */
export function kept(asked: Question, answer: CacheableAnswer): string[] {
  const packet = decoded(asked, answer);
  return [...(packet.answers ?? []), ...(packet.authorities ?? [])].map(
    (record) => `${record.name} ${record.type} ${String('ttl' in record ? record.ttl : '')}`,
  );
}

/** The fault of a message with these parts, or the kind of the result if the message is valid. */
export function faultOf(asked: Question, parts: TestResponse): string {
  const reading = readResponse(response(asked, parts), asked);
  return reading.kind === 'fault' ? reading.fault : reading.kind;
}
