/** The parser of PROXY headers: its result depends neither on the position of the header nor on how it is split. */
import {
  couldBeProxyHeader,
  crc32c,
  MAX_PROXY_HEADER_SIZE,
  ProxyHeader,
  ProxyOutcome,
} from '../../../shared/net/proxy-header.ts';
import type { ProxyOutcomeCode } from '../../../shared/net/proxy-header.ts';
import { octets } from '../../support/dns/built-messages.ts';
import { surrounded, hold, shown } from '../target.ts';
import type { Target } from '../target.ts';

const SIGNATURE = Uint8Array.of(13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10);
const SIZE = 16;

/** Result of parsing the bytes, and all fields of a complete header. */
function read(bytes: Uint8Array, at: number, end: number): { outcome: ProxyOutcomeCode; text: string } {
  const header = new ProxyHeader();
  const outcome = header.read(bytes, at, end);
  if (outcome !== ProxyOutcome.OK) return { outcome, text: String(outcome) };
  hold(
    header.length >= SIZE && header.length <= Math.min(end - at, MAX_PROXY_HEADER_SIZE),
    'the length is wrong',
  );
  const client = header.hasSource ? [header.source, header.sourcePort] : null;
  return { outcome, text: shown([header.length, client]) };
}

function run(input: Uint8Array): void {
  const whole = read(input, 0, input.length);
  for (const [poison, before] of [
    [0xff, 3],
    [13, 9],
  ] as const)
    hold(
      read(surrounded(input, poison, before, 40), before, before + input.length).text === whole.text,
      'it depends on the bytes around the header',
    );
  // However the bytes arrive: once the result is decided, more bytes do not change it; before, the result is always
  // "more".
  let decided: string | null = null;
  for (const end of endsOf(input.length)) {
    const part = read(input, 0, end);
    if (decided !== null) hold(part.text === decided, 'more bytes change a decided result');
    else if (part.outcome !== ProxyOutcome.MORE) decided = part.text;
  }
  hold(
    decided === null ? whole.outcome === ProxyOutcome.MORE : decided === whole.text,
    'the parts give another result',
  );
  if (whole.outcome === ProxyOutcome.OK)
    hold(couldBeProxyHeader(input) === true, 'bytes that cannot be a header are accepted');
}

/** Ends of the prefixes to parse: every prefix up to a length, and some longer prefixes. */
function endsOf(length: number): number[] {
  const ends: number[] = [];
  for (let end = 0; end <= length; end += end < 64 ? 1 : 13) ends.push(end);
  return [...ends, length];
}

/** A header of this family with these bytes after its fixed part. */
function headerOf(command: number, family: number, ...rest: Uint8Array[]): Uint8Array {
  const body = octets(...rest);
  return octets(SIGNATURE, [0x20 | command, family, body.length >> 8, body.length & 255], body);
}

/** A header with a correct checksum. */
function withChecksum(): Uint8Array {
  const bytes = headerOf(1, 0x12, new Uint8Array(12).fill(7), Uint8Array.of(3, 0, 4, 0, 0, 0, 0));
  new DataView(bytes.buffer).setUint32(bytes.length - 4, crc32c(bytes));
  return bytes;
}

/** Seeds: headers of each family. */
export const target: Target = {
  maxLength: 700,
  seeds: () => [
    headerOf(0, 0),
    headerOf(1, 0x11, new Uint8Array(12).fill(1)),
    headerOf(1, 0x21, new Uint8Array(36).fill(2), Uint8Array.of(4, 0, 2, 9, 9)),
    headerOf(1, 0x31, new Uint8Array(216).fill(3)),
    octets(withChecksum(), [0, 1, 2, 3]),
  ],
  dictionary: [SIGNATURE],
  run,
};
