/**
 * Estimates by samples which share of the address space patterns and expressions match. The samples are one address
 * from each of 4,096 equal parts of the IPv4 space, and of 2000::/3, the global unicast addresses of IPv6 (RFC 4291
 * section 2.4).
 */
import type { Automaton } from '../../../../shared/automata/automaton.ts';
import { finds } from '../../../../shared/automata/reach.ts';
import { addressToText } from '../../../../shared/net/ip.ts';

const PARTS = 4096;
const MIX = 0x9e3779b1;

let texts: readonly string[] | undefined;

/** Marks the samples that rules match. */
export class AddressSamples {
  private readonly matched = new Uint8Array(2 * PARTS);

  /** Marks the samples that the automaton of one rule matches. */
  mark(automaton: Automaton): void {
    texts ??= sampleTexts();
    for (const [sample, text] of texts.entries()) if (finds(automaton, text)) this.matched[sample] = 1;
  }

  /** The share of the address family of which more is matched, 0 to 1. */
  share(): number {
    const count = (from: number): number =>
      this.matched.subarray(from, from + PARTS).reduce((a, b) => a + b, 0);
    return Math.max(count(0), count(PARTS)) / PARTS;
  }
}

/** The samples of IPv4, then those of IPv6. The bits after those that select the part differ from sample to sample. */
function sampleTexts(): string[] {
  const ipv4 = Array.from({ length: PARTS }, (_, part) =>
    ipv4Text(((part << 20) | (scattered(part) >>> 12)) >>> 0),
  );
  const ipv6 = Array.from({ length: PARTS }, (_, part) => ipv6Text(part));
  return [...ipv4, ...ipv6];
}

function ipv4Text(word: number): string {
  return [24, 16, 8, 0].map((shift) => (word >>> shift) & 0xff).join('.');
}

function ipv6Text(part: number): string {
  const bytes = new Uint8Array(16);
  for (let group = 1; group < 8; group++) {
    const bits = scattered(part * 8 + group) >>> 16;
    bytes.set([bits >>> 8, bits & 0xff], group * 2);
  }
  const first = 0x2000 | (part << 1) | (scattered(part) >>> 31);
  bytes.set([first >>> 8, first & 0xff]);
  return addressToText(bytes);
}

function scattered(value: number): number {
  return Math.imul(value + 1, MIX) >>> 0;
}
