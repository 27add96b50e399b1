/**
 * Patterns of Adblock-style rules, applied to a name: `||` (start, or after a dot), `|` and `://` (start), `|` and `^`
 * at the end (end), `*` (any characters); without these, any position. Works on text only, in linear time: for each
 * piece between stars, only the leftmost match need be tried.
 */
import { type LineReason, lineReason } from './reasons/line-reasons.ts';

/** Required start of the first piece. */
const Start = { ANYWHERE: 0, NAME: 1, LABEL: 2 } as const;

/** A pattern that is split into pieces at its stars. */
export interface NamePattern {
  readonly start: number;
  readonly end: boolean;
  /** One or more pieces; an empty first or last piece means that the pattern has a star at that end. */
  readonly pieces: readonly string[];
}

/** Parses a pattern (lower case); returns the reason if it is invalid. */
export function readNamePattern(text: string): NamePattern | LineReason {
  let body = text;
  let start: number = Start.ANYWHERE;
  const scheme = /^\|?(?:https?)?:\/\//.exec(body);
  if (scheme !== null) {
    start = Start.NAME;
    body = body.slice(scheme[0].length);
  } else if (body.startsWith('||')) {
    start = Start.LABEL;
    body = body.slice(2);
  } else if (body.startsWith('|')) {
    start = Start.NAME;
    body = body.slice(1);
  }
  let starsAt = body.length;
  while (starsAt > 0 && body[starsAt - 1] === '*') starsAt--;
  let anchorsAt = starsAt;
  if (body.length - starsAt <= 1) while (anchorsAt > 0 && '^|'.includes(body[anchorsAt - 1]!)) anchorsAt--;
  const end = anchorsAt < starsAt;
  if (end) body = body.slice(0, anchorsAt);
  else if (starsAt < body.length) body = `${body.slice(0, starsAt)}*`;
  if (/[\^|]/.test(body)) return lineReason('anchor_inside');
  if (!/^[a-z0-9._*-]*$/.test(body)) return lineReason('foreign_characters');
  const pieces = body.split(/\*+/);
  return { start, end, pieces };
}

/** Whether a pattern contains any text; a pattern without text matches every name. */
export function hasLetters({ pieces }: NamePattern): boolean {
  return pieces.some((piece) => piece !== '');
}

/** Longest text that every match contains. */
export function longestPiece(pattern: NamePattern): string {
  return pattern.pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest));
}

/** Whether `name` (lower case, no final dot) matches. */
export function matchesPattern(pattern: NamePattern, name: string): boolean {
  const { pieces, start, end } = pattern;
  const first = pieces[0]!;
  if (pieces.length === 1 && end) return endsAs(name, first, start);
  let at = findFirst(name, first, start);
  if (at < 0) return false;
  at += first.length;
  const last = end ? pieces.length - 1 : pieces.length;
  for (let piece = 1; piece < last; piece++) {
    const found = name.indexOf(pieces[piece]!, at);
    if (found < 0) return false;
    at = found + pieces[piece]!.length;
  }
  if (!end) return true;
  const tail = pieces[last]!;
  return name.length - tail.length >= at && name.endsWith(tail);
}

/** Whether a single piece matches at the end and, if required, at the start. */
function endsAs(name: string, piece: string, start: number): boolean {
  if (!name.endsWith(piece)) return false;
  const at = name.length - piece.length;
  if (start === Start.ANYWHERE || at === 0) return true;
  return start === Start.LABEL && name[at - 1] === '.';
}

function findFirst(name: string, piece: string, start: number): number {
  if (start === Start.NAME) return name.startsWith(piece) ? 0 : -1;
  let at = name.indexOf(piece);
  if (start === Start.ANYWHERE) return at;
  while (at > 0 && name[at - 1] !== '.') at = name.indexOf(piece, at + 1);
  return at;
}

/** A regular expression (RE2) that matches the same names. */
export function patternExpression({ start, end, pieces }: NamePattern): string {
  const heads = { [Start.ANYWHERE]: '', [Start.NAME]: '^', [Start.LABEL]: '(?:^|\\.)' };
  const body = pieces.map((piece) => piece.replaceAll('.', '\\.')).join('.*');
  return `(?s)${heads[start as keyof typeof heads]}${body}${end ? '$' : ''}`;
}
