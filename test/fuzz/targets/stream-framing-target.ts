/** Messages on a stream: they do not depend on how the bytes are split, and each received message is delivered once. */
import { frame, FrameReader } from '../../../shared/dns/framing.ts';
import { query } from '../../support/dns/dns-message.ts';
import { octets } from '../../support/dns/built-messages.ts';
import { hold, InputReader, shown } from '../target.ts';
import type { Target } from '../target.ts';

/** The messages of a stream in pieces of these sizes; the reader pauses after `stops` messages, then resumes. */
function messagesOf(
  stream: Uint8Array,
  sizes: readonly number[],
  stops: number,
): { text: string; isEmpty: boolean } {
  const messages: Uint8Array[] = [];
  let left = stops;
  const reader = new FrameReader((message) => {
    messages.push(message.slice());
    return --left !== 0;
  });
  for (let at = 0, turn = 0; at < stream.length; turn++) {
    const end = Math.min(stream.length, at + sizes[turn % sizes.length]!);
    reader.push(stream.slice(at, end));
    at = end;
  }
  if (left <= 0) reader.resume();
  return { text: shown(messages), isEmpty: reader.isEmpty };
}

function run(input: Uint8Array): void {
  const reader = new InputReader(input);
  const stops = 1 + (reader.octet() % 5);
  const sizes = [1 + reader.octet(), 1 + (reader.octet() % 8), 1 + reader.octet()];
  const stream = reader.rest();
  const expected: Uint8Array[] = [];
  let at = 0;
  while (at + 2 <= stream.length) {
    const end = at + 2 + stream[at]! * 256 + stream[at + 1]!;
    if (end > stream.length) break;
    expected.push(stream.slice(at + 2, end));
    at = end;
  }
  for (const sizesOfTurn of [[Math.max(1, stream.length)], sizes, [1]]) {
    const { text, isEmpty } = messagesOf(stream, sizesOfTurn, stops);
    hold(text === shown(expected), 'the messages depend on how the bytes are split');
    hold(isEmpty === (at === stream.length), 'it reports the wrong remainder');
  }
}

/** Seeds: several queries in sequence. */
export const target: Target = {
  maxLength: 800,
  isSlow: true,
  seeds: () => [
    octets([0, 3, 1, 9], frame(query('a.example', 'A')), frame(query('b.example', 'AAAA', { edns: {} }))),
    octets([2, 100, 4, 50], frame(new Uint8Array(0)), frame(new Uint8Array(300)), frame(Uint8Array.of(7))),
  ],
  run,
};
