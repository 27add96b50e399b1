/**
 * The parser of upstream answers: it reads nothing outside the message, parses its own output to the same result, and
 * finds the offset of each TTL.
 */
import type { CacheableAnswer } from '../../../dns-worker/resolve/response/cacheable-answer.ts';
import type { Question } from '../../../dns-worker/resolve/response/question.ts';
import { readResponse } from '../../../dns-worker/resolve/response/response-reader.ts';
import { decodeMessage } from '../../../shared/dns/codec.ts';
import { Header, MAX_MESSAGE_SIZE, readU16, Record, skipName } from '../../../shared/dns/wire.ts';
import {
  a,
  cname,
  dname,
  ns,
  octets,
  opt,
  optWith,
  question,
  response,
  rrsig,
  soa,
} from '../../support/dns/built-messages.ts';
import { assemble } from '../../support/dns/read-answer.ts';
import { surrounded, hold, InputReader, shown } from '../target.ts';
import type { Target } from '../target.ts';

const ECS = Uint8Array.of(0, 1, 24, 0, 192, 0, 2);
/** Possible questions; the first byte of an input selects one, and the answer repeats the question. */
const ASKED: readonly Question[] = [
  question('www.example.org', 'A'),
  question('www.example.org', 'A', { dnssecOk: true }),
  question('www.example.org', 'CNAME', { dnssecOk: true }),
  question('example.org', 'MX'),
  question('_sip._tcp.example.org', 'SRV', { ecs: ECS }),
  question('www.example.org', 'HTTPS', { dnssecOk: true, checkingDisabled: true }),
  question('example.org', 'SOA'),
  question('org', 'ANY'),
];
const QNAME = Uint8Array.of(0xc0, 12);

/** The message: a header and a question before the input, which has flags, counts and records. */
function messageOf(asked: Question, rest: Uint8Array): Uint8Array {
  const head = new Uint8Array(8);
  head.set(rest.subarray(0, 8));
  const type = [asked.qtype >> 8, asked.qtype & 255, 0, 1];
  return octets(
    [0, 0, head[0]! | 0x80, head[1]!, 0, 1],
    head.subarray(2),
    asked.qname,
    type,
    rest.subarray(8),
  );
}

function run(input: Uint8Array): void {
  const reader = new InputReader(input);
  const asked = reader.of(ASKED);
  const message = messageOf(asked, reader.rest());
  const reading = readResponse(message, asked);
  const text = shown(reading);
  for (const [poison, before] of [
    [0xff, 5],
    [0, 64],
  ] as const) {
    const around = surrounded(message, poison, before, 80);
    const same = readResponse(around.subarray(before, before + message.length), asked);
    hold(shown(same) === text, 'it depends on the bytes around the message');
  }
  if (reading.kind === 'answer') check(asked, reading.answer);
}

function check(asked: Question, answer: CacheableAnswer): void {
  const whole = assemble(asked, answer);
  hold(whole.length <= MAX_MESSAGE_SIZE, 'the answer is longer than a message may be');
  hold(answer.answersLength <= answer.body.length, 'the answers are longer than the body');
  const bodyAt = whole.length - answer.body.length;
  const ttls = ttlsIn(whole, bodyAt, answer.answerCount + answer.authorityCount);
  const reported = [...answer.ttlOffsets];
  hold(shown(ttls.map((at) => at - bodyAt)) === shown(reported), 'the TTLs are at other offsets');
  const again = readResponse(whole, { ...asked, ecs: null });
  hold(again.kind === 'answer', 'an accepted answer is rejected when it is parsed again');
  hold(
    Buffer.compare(again.answer.body, answer.body) === 0,
    'an accepted answer changes when it is parsed again',
  );
  const other = whole.slice();
  for (const at of ttls) other.fill(0x5a, at, at + 4);
  const rewritten = readResponse(other, { ...asked, ecs: null });
  hold(rewritten.kind === 'answer', 'with other TTLs it is rejected');
  hold(rewritten.answer.body.length === answer.body.length, 'with other TTLs it has a different length');
  const isKnown = decodeMessage(whole);
  if (isKnown !== null)
    hold(
      isKnown.questions?.length === 1 && (isKnown.answers?.length ?? 0) === answer.answerCount,
      'dns-packet has other counts',
    );
}

/** Offset of the TTL of each record, found as simply as possible. */
function ttlsIn(message: Uint8Array, from: number, records: number): number[] {
  const found: number[] = [];
  let at = from;
  for (let i = 0; i < records; i++) {
    const tail = skipName(message, at, message.length);
    hold(tail > 0 && tail + Record.RDATA <= message.length, 'the body has fewer records than announced');
    found.push(tail + Record.TTL);
    at = tail + Record.RDATA + readU16(message, tail + Record.RDLENGTH);
  }
  hold(at === message.length, 'the body is longer or shorter than its records');
  return found;
}

/** An input that results in this message. */
function inputOf(asked: number, message: Uint8Array): Uint8Array {
  const at = Header.SIZE + ASKED[asked]!.qname.length + 4;
  return octets([asked], message.subarray(2, 4), message.subarray(6, Header.SIZE), message.subarray(at));
}

/** Seeds: valid answers of several kinds. */
export const target: Target = {
  maxLength: 1200,
  seeds: () => [
    inputOf(0, response(ASKED[0]!, { answers: [a(QNAME, '192.0.2.1'), a(QNAME, '192.0.2.2', 60)] })),
    inputOf(
      0,
      response(ASKED[0]!, {
        answers: [cname('www.example.org', 'b.example.net'), a('b.example.net', '192.0.2.1')],
        authorities: [ns('example.net', 'ns.example.net')],
        additionals: [opt()],
      }),
    ),
    inputOf(
      1,
      response(ASKED[1]!, {
        answers: [
          dname('example.org', 'example.net'),
          cname('www.example.org', 'www.example.net'),
          rrsig('example.org', 'DNAME'),
        ],
        authorities: [soa('example.net', 60, 30), rrsig('example.net', 'SOA')],
        additionals: [optWith(15, Uint8Array.of(0, 15))],
      }),
    ),
    inputOf(
      2,
      response(ASKED[2]!, {
        answers: [cname('www.example.org', 'b.example.org'), rrsig('www.example.org', 'CNAME')],
      }),
    ),
    inputOf(
      3,
      response(ASKED[3]!, {
        answers: [{ owner: QNAME, type: 'MX', ttl: 9, rdata: Uint8Array.of(0, 5, 1, 0x61, 0xc0, 12) }],
      }),
    ),
    inputOf(
      4,
      response(ASKED[4]!, {
        answers: [{ owner: QNAME, type: 'SRV', ttl: 9, rdata: Uint8Array.of(0, 5, 0, 0, 0, 53, 0xc0, 12) }],
        additionals: [optWith(8, Uint8Array.of(0, 1, 24, 24, 192, 0, 2))],
      }),
    ),
    inputOf(
      5,
      response(ASKED[5]!, {
        answers: [
          { owner: QNAME, type: 'HTTPS', ttl: 9, rdata: Uint8Array.of(0, 1, 0, 0, 1, 0, 3, 2, 0x68, 0x32) },
        ],
      }),
    ),
    inputOf(0, response(ASKED[0]!, { flags: 0x8183, authorities: [soa('example.org', 60, 30)] })),
    inputOf(6, response(ASKED[6]!, { answers: [soa('example.org', 60, 30)] })),
    inputOf(7, response(ASKED[7]!, { answers: [ns('org', 'a.org'), a('org', '192.0.2.1')] })),
  ],
  dictionary: [
    QNAME,
    Uint8Array.of(0, 1, 0, 1),
    Uint8Array.of(0, 5, 0, 1),
    Uint8Array.of(0, 39, 0, 1),
    Uint8Array.of(0xc0, 16),
  ],
  run,
};
