/**
 * Estimates the program size of a pattern before it is compiled, because repetitions are expanded: one line of text can
 * require half a million instructions. One pass over the text.
 */

/** Estimated instructions of `pattern`; at least half of the actual number. */
export function estimateProgramSize(pattern: string): number {
  /** Sizes of the open groups: for each group, the size before its last atom, and the size of the atom. */
  const open: { before: number; atom: number }[] = [];
  let now = { before: 0, atom: 0 };
  const begin = (size: number): void => {
    now = { before: now.before + now.atom, atom: size };
  };
  for (let at = 0; at < pattern.length; at++) {
    switch (pattern[at]) {
      case '(':
        open.push(now);
        now = { before: 0, atom: 0 };
        break;
      case ')': {
        const inner = now.before + now.atom;
        now = open.pop() ?? { before: 0, atom: 0 };
        begin(inner + 2);
        break;
      }
      case '[':
        at = endOfClass(pattern, at);
        begin(1);
        break;
      case '{':
        now.atom *= timesAt(pattern, at);
        break;
      case '?':
      case '*':
        now.atom++;
        break;
      case '\\':
        at++;
        begin(1);
        break;
      default:
        begin(1);
    }
  }
  return open.reduce((sum, { before, atom }) => sum + before + atom, now.before + now.atom);
}

/** Number of copies that the repetition in braces at `at` produces. */
function timesAt(pattern: string, at: number): number {
  const braces = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/.exec(pattern.slice(at, at + 16));
  if (braces === null) return 1;
  const [, min, max] = braces;
  // Each optional copy takes one more instruction.
  return max === undefined || max === '' ? Number(min) + 1 : 2 * Math.max(Number(min), Number(max));
}

/** End of the character class that starts at `at`. */
function endOfClass(pattern: string, at: number): number {
  let end = at + 1;
  if (pattern[end] === '^') end++;
  if (pattern[end] === ']') end++;
  for (; end < pattern.length && pattern[end] !== ']'; end++) {
    if (pattern[end] === '\\') end++;
    else if (pattern.startsWith('[:', end)) {
      const close = pattern.indexOf(':]', end + 2);
      if (close > 0) end = close + 1;
    }
  }
  return end;
}
