// Names and a question stream generated from a seed, for machines without sample data. Popularity follows a Zipf law,
// and the types have the shares of real streams; the names are pronounceable nonsense under reserved domains.
import type { Random } from './random.ts';
import { seededRandom, zipfRanks } from './random.ts';
import type { Question } from './asked-question.ts';

const SYLLABLES =
  'ba be bi bo da de di do fa fi ga go ka ke ki ko la le lo lu ma me mi mo na ne ni no pa pe pi '
    .concat('po ra re ri ro sa se si so ta te ti to tra va ve vi vo za zo ads cdn pix img api met')
    .split(' ');
const HOSTS = ['www', 'api', 'cdn', 'static', 'img', 'events', 'track', 'm', 'mail', 'ads', 'pixel', 'v2'];
const PARENTS = ['example.com', 'example.net', 'example.org'];

/** Shares of the types in an allowed stream; the remainder is A. */
const TYPE_SHARES: readonly (readonly [string, number])[] = [
  ['AAAA', 0.2308],
  ['HTTPS', 0.1326],
  ['PTR', 0.0175],
  ['TXT', 0.0039],
  ['MX', 0.0024],
  ['SRV', 0.0019],
  ['NS', 0.0014],
  ['SVCB', 0.0013],
  ['SOA', 0.0006],
  ['CNAME', 0.0003],
];

function label(random: Random): string {
  const syllables = 2 + Math.floor(random() * 4);
  let text = '';
  for (let i = 0; i < syllables; i++) text += SYLLABLES[Math.floor(random() * SYLLABLES.length)]!;
  return random() < 0.15 ? `${text}${Math.floor(random() * 100)}` : text;
}

/** `count` different names that are not in `taken`, each with three to five labels. */
export function generateNames(count: number, seed: number, taken: ReadonlySet<string> = new Set()): string[] {
  const random = seededRandom(seed);
  const names = new Set<string>();
  while (names.size < count) {
    const parent = PARENTS[Math.floor(random() * PARENTS.length)]!;
    const site = `${label(random)}${label(random)}.${parent}`;
    const deep = random();
    const host = HOSTS[Math.floor(random() * HOSTS.length)]!;
    const name = deep < 0.5 ? site : deep < 0.9 ? `${host}.${site}` : `${label(random)}.${host}.${site}`;
    if (!taken.has(name)) names.add(name);
  }
  return [...names];
}

function typeOf(draw: number): string {
  let upTo = 0;
  for (const [type, share] of TYPE_SHARES) {
    upTo += share;
    if (draw < upTo) return type;
  }
  return 'A';
}

/**
 * A stream over `allowed` and `blocked` names, by popularity; about `blockedShare` of the questions are for blocked
 * names.
 */
export function generateStream(
  count: number,
  allowed: readonly string[],
  blocked: readonly string[],
  blockedShare: number,
  seed: number,
): Question[] {
  const random = seededRandom(seed);
  const allowedRank = zipfRanks(allowed.length, 0.95, 2.7, random);
  const blockedRank = zipfRanks(Math.min(blocked.length, 20_000), 0.75, 10, random);
  return Array.from({ length: count }, () => {
    if (random() < blockedShare)
      return { name: blocked[blockedRank()]!, type: random() < 0.28 ? 'AAAA' : 'A' };
    return { name: allowed[allowedRank()]!, type: typeOf(random()) };
  });
}
