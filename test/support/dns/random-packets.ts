/** Packets generated from a fixed seed: half are noise, half are queries with a few bytes changed. */
import { RRType } from '../../../shared/dns/iana.ts';
import { query } from './dns-message.ts';

/** Pseudo-random numbers that are the same in every run (mulberry32). */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  /** An integer from 0 to `below` - 1. */
  below(below: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }
}

const TYPES = Object.values(RRType);
const MAX_NOISE = 600;

/** One packet. */
export function randomPacket(random: SeededRandom): Uint8Array {
  if (random.below(2) === 0) return noise(random, random.below(MAX_NOISE));
  const packet = someQuery(random);
  for (let changes = random.below(6); changes > 0; changes--)
    packet[random.below(packet.length)] = random.below(256);
  return packet.slice(0, random.below(4) === 0 ? random.below(packet.length + 1) : packet.length);
}

function noise(random: SeededRandom, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

function someQuery(random: SeededRandom): Uint8Array {
  const labels = Array.from({ length: random.below(8) }, () => 'x'.repeat(1 + random.below(63)));
  const edns = { udpSize: random.below(65_536), version: random.below(3), dnssecOk: random.below(2) === 1 };
  return query(labels.slice(0, 3).join('.'), TYPES[random.below(TYPES.length)]!, {
    id: random.below(65_536),
    flags: random.below(3) === 0 ? random.below(65_536) : 0x0100,
    ...(random.below(2) === 0 ? { edns } : {}),
  });
}
