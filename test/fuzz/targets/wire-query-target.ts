/**
 * The parser of queries: it reads nothing outside the message, its result does not depend on the position of the
 * message, and it accepts no message that dns-packet parses as a different question.
 */
import { ParseOutcome, parseQuery } from '../../../dns-worker/query/parse-query.ts';
import type { ParseOutcomeCode } from '../../../dns-worker/query/parse-query.ts';
import { Query } from '../../../dns-worker/query/query.ts';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { MAX_NAME_LENGTH, nameFromText } from '../../../shared/dns/name.ts';
import { Header, readU16 } from '../../../shared/dns/wire.ts';
import { octets, question, u16 } from '../../support/dns/built-messages.ts';
import { query } from '../../support/dns/dns-message.ts';
import { surrounded, hold, shown } from '../target.ts';
import type { Target } from '../target.ts';

/**
 * Size of the bytes around the message. The parser may read one word beyond the message, but its result must not depend
 * on this word.
 */
const AROUND = 16;
const slot = new Query();

function parsed(
  input: Uint8Array,
  poison: number,
  before: number,
): { outcome: ParseOutcomeCode; text: string } {
  const bytes = surrounded(input, poison, before, AROUND);
  slot.begin(bytes, before, input.length, bytes.length - before);
  const outcome = parseQuery(slot, 1, 2);
  hold(slot.qnameLength <= MAX_NAME_LENGTH, 'the name is too long');
  if (outcome === ParseOutcome.OK || outcome === ParseOutcome.NO_QUESTION) {
    hold(slot.questionEnd <= input.length, 'the question ends outside the message');
    if (slot.hasEdns)
      hold(
        slot.optionsAt - before >= slot.questionEnd && slot.optionsEnd <= before + input.length,
        'the options are outside the message',
      );
  }
  if (outcome !== ParseOutcome.OK && outcome !== ParseOutcome.NO_QUESTION)
    return { outcome, text: String(outcome) };
  const { qtype, qclass, questionEnd, labelCount, hasEdns, ednsVersion, dnssecOk, udpSize } = slot;
  const fields = { outcome, qtype, qclass, questionEnd, labelCount, hasEdns, ednsVersion, dnssecOk, udpSize };
  const name = slot.qname.slice(0, slot.qnameLength);
  const hashes = [slot.hashLow.slice(0, labelCount), slot.hashHigh.slice(0, labelCount)];
  const options = hasEdns ? [slot.optionsAt - before, slot.optionsEnd - before] : [];
  return { outcome, text: shown([fields, name, hashes, options]) };
}

/** Whether a name consists of letters, digits, hyphens and underscores, which conversion to text does not change. */
function isPlain(name: string): boolean {
  return /^[a-z0-9_.-]*$/iu.test(name);
}

function run(input: Uint8Array): void {
  const { outcome, text } = parsed(input, 0, 0);
  for (const [poison, before] of [
    [0xff, 3],
    [0xc0, 1],
  ] as const)
    hold(parsed(input, poison, before).text === text, 'it depends on the bytes around the message');
  if (outcome !== ParseOutcome.OK) return;
  const packet = decodeMessage(input);
  // dns-packet fails on malformed records of the types that it parses, such as A.
  if (packet === null) return;
  const [asked, ...more] = packet.questions ?? [];
  hold(asked !== undefined && more.length === 0, 'dns-packet reads another number of questions');
  if (!isPlain(asked.name) || Buffer.from(slot.qname.subarray(0, slot.qnameLength)).includes(0x2e)) return;
  const name = nameFromText(asked.name.toLowerCase());
  hold(
    name !== null && Buffer.from(slot.qname.subarray(0, slot.qnameLength)).equals(Buffer.from(name)),
    'dns-packet reads another name',
  );
  const type = readU16(input, slot.questionEnd - 4);
  hold(type === slot.qtype && readU16(input, slot.questionEnd - 2) === slot.qclass, 'type or class differs');
  // dns-packet skips the data of known types by their expected length, and so loses its position after a malformed
  // record.
  if (shown([...input.subarray(Header.ANCOUNT, Header.SIZE)]) !== shown([0, 0, 0, 0, 0, 1])) return;
  const hasOpt = packet.additionals?.[0]?.type === 'OPT';
  hold(hasOpt === slot.hasEdns, 'dns-packet disagrees about EDNS');
}

function withRecords(counts: readonly number[], ...records: Uint8Array[]): Uint8Array {
  const { qname } = question('www.example.org', 'A');
  return octets([1, 2, 1, 0], [0, 1], counts, qname, [0, 1, 0, 1], ...records);
}

const OPT = Uint8Array.of(0, 0, 41, 16, 0, 0, 0, 128, 0, 0, 0);

/** Seeds: valid queries. */
export const target: Target = {
  maxLength: 600,
  seeds: () => [
    query('www.example.org', 'A'),
    query('WWW.Example.Org', 'AAAA', { edns: {} }),
    query('', 'NS', { edns: {} }),
    withRecords([0, 0, 0, 0, 0, 1], OPT),
    withRecords(
      [0, 0, 0, 0, 0, 1],
      octets(OPT.subarray(0, 9), [0, 12], [0, 8, 0, 8], [0, 1, 24, 0, 192, 0, 2, 0]),
    ),
    withRecords(
      [0, 1, 0, 0, 0, 1],
      octets([0xc0, 12], u16(1), u16(1), [0, 0, 0, 9], u16(4), [1, 2, 3, 4]),
      OPT,
    ),
  ],
  dictionary: [OPT, Uint8Array.of(0xc0, 12), Uint8Array.of(0, 41)],
  run,
};
