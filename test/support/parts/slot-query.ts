/** Parsed queries in a slot, with or without an answer after the question, for tests of a single stage. */
import { parseQuery } from '../../../dns-worker/query/parse-query.ts';
import { Query } from '../../../dns-worker/query/query.ts';
import type { OpenSnapshot } from '../../../dns-worker/policy/open-snapshot.ts';
import { addressFromText } from '../../../shared/net/ip.ts';
import { Protocol } from '../../../shared/query-log.ts';
import { type QueryOptions, type TypeSpec, Reply, query } from '../dns/dns-message.ts';
import { type TestRecord, response, question } from '../dns/built-messages.ts';

/** A parsed query from 192.0.2.1 over UDP, in a slot of 1500 bytes. */
export function slotQuery(
  { rules }: Pick<OpenSnapshot, 'rules'>,
  name: string,
  type: TypeSpec = 'A',
  options: QueryOptions = {},
): Query {
  const message = query(name, type, options);
  const bytes = new Uint8Array(1500);
  bytes.set(message);
  const slot = new Query();
  slot.clientBytes = addressFromText('192.0.2.1')!;
  slot.protocol = Protocol.udp;
  slot.begin(bytes, 0, message.length, 1232);
  parseQuery(slot, rules.seedLow, rules.seedHigh);
  return slot;
}

/** Writes the answer of an upstream after the question, as the cache or the resolve thread does. */
export function putAnswer(
  slot: Query,
  name: string,
  type: 'A' | 'AAAA' | 'HTTPS',
  answers: TestRecord[],
): void {
  const asked = question(name, type);
  const message = response(asked, { answers });
  slot.bytes.set(message.subarray(slot.questionEnd), slot.questionEnd);
  slot.bytes[7] = answers.length;
  // The answer has overwritten the OPT record of the query.
  slot.bytes[11] = 0;
  slot.answersAt = slot.questionEnd;
  slot.answersLength = message.length - slot.questionEnd;
  slot.answersCount = answers.length;
  slot.replyLength = message.length;
}

/** The reply that would be sent. */
export function replyIn(slot: Query): Reply {
  return new Reply(slot.bytes.slice(0, slot.replyLength), '');
}
