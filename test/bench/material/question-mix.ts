// Selects the questions of a workload from a question stream and a block list. Pure functions.
//
// A blocked question is for A or AAAA of a listed name, because for these types every blocking mode (null address,
// NXDOMAIN) differs from a normal answer. The name of an allowed question has no listed parent, because some other
// servers also block subdomains, and is not a name that servers answer by default (private reverse zones, single
// labels).
import type { Question } from './asked-question.ts';
import { seededRandom, shuffle } from './random.ts';

const ANSWERED_LOCALLY =
  /(^|\.)(localhost|local|test|invalid|onion|internal|lan|home|corp|resolver\.arpa|home\.arpa)$/;
const PRIVATE_REVERSE =
  /((^|\.)(0|10|127|254\.169|168\.192|255\.255|(1[6-9]|2\d|3[01])\.172)\.in-addr|ip6)\.arpa$/;

export interface QuestionMix {
  questions: Question[];
  blockedCount: number;
}

/** True if no server answers the name by default, and neither the name nor a parent is listed. */
export function isForwarded(name: string, listed: ReadonlySet<string>): boolean {
  const folded = name.toLowerCase();
  if (!folded.includes('.') || ANSWERED_LOCALLY.test(folded) || PRIVATE_REVERSE.test(folded)) return false;
  for (let dot = -1; ;) {
    if (listed.has(folded.slice(dot + 1))) return false;
    dot = folded.indexOf('.', dot + 1);
    if (dot < 0) return true;
  }
}

/** `count` questions, exactly `blockedShare` of them blocked; both kinds keep the order of the stream. */
export function mixQuestions(
  stream: readonly Question[],
  listed: ReadonlySet<string>,
  count: number,
  blockedShare: number,
  seed: number,
): QuestionMix {
  const allowed = stream.filter(({ name }) => isForwarded(name, listed));
  const blocked = stream.filter(
    ({ name, type }) => (type === 'A' || type === 'AAAA') && listed.has(name.toLowerCase()),
  );
  if (allowed.length === 0 || blocked.length === 0)
    throw new Error(
      `mix questions: ${allowed.length} allowed and ${blocked.length} blocked ones to choose from`,
    );
  const blockedCount = Math.round(count * blockedShare);
  const isBlocked = Array.from({ length: count }, (_, index) => index < blockedCount);
  shuffle(isBlocked, seededRandom(seed));
  let nextAllowed = 0;
  let nextBlocked = 0;
  const questions = isBlocked.map((wantsBlocked) =>
    wantsBlocked ? blocked[nextBlocked++ % blocked.length]! : allowed[nextAllowed++ % allowed.length]!,
  );
  return { questions, blockedCount };
}

/** Eight bytes that the generator replaces with a serial number, so that each name is queried once. */
export const SERIAL_LABEL = '00000000';

/** `count` questions for names below different allowed names, each with a first label for the serial number. */
export function uniqueQuestions(
  stream: readonly Question[],
  listed: ReadonlySet<string>,
  count: number,
): Question[] {
  const names = new Set<string>();
  for (const { name, type } of stream) {
    if (names.size === count) break;
    if (type === 'A' && name.length < 200 && isForwarded(name, listed)) names.add(name.toLowerCase());
  }
  return [...names].map((name) => ({ name: `${SERIAL_LABEL}.${name}`, type: 'A' }));
}

/**
 * `count` questions, of which exactly `uniqueShare` are unique; the rest are allowed questions, in the stream's order.
 */
export function partlyUnique(
  stream: readonly Question[],
  listed: ReadonlySet<string>,
  count: number,
  uniqueShare: number,
  seed: number,
): Question[] {
  const uniqueCount = Math.round(count * uniqueShare);
  const unique = uniqueQuestions(stream, listed, uniqueCount);
  const known = stream.filter(({ name }) => isForwarded(name, listed));
  if (unique.length === 0 || known.length === 0)
    throw new Error(`mix questions: ${unique.length} unique and ${known.length} known ones to choose from`);
  const isUnique = Array.from({ length: count }, (_, index) => index < uniqueCount);
  shuffle(isUnique, seededRandom(seed));
  let [nextUnique, nextKnown] = [0, 0];
  return isUnique.map((wantsUnique) =>
    wantsUnique ? unique[nextUnique++ % unique.length]! : known[nextKnown++ % known.length]!,
  );
}

/**
 * `count` of these questions; names with a label for a serial number get consecutive numbers, starting with `first`.
 */
export function stampQuestions(questions: readonly Question[], first: number, count: number): Question[] {
  return Array.from({ length: count }, (_, index) => {
    const { name, type } = questions[index % questions.length]!;
    if (!name.startsWith(`${SERIAL_LABEL}.`)) return { name, type };
    const serial = ((first + index) >>> 0).toString(16).padStart(SERIAL_LABEL.length, '0');
    return { name: serial + name.slice(SERIAL_LABEL.length), type };
  });
}
