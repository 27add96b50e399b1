/** Parts of a TRE expression in the notation of RE2: their concatenation and repetition. Pure. */
import { type ImportReason, importReason } from '../../../../../shared/policy/reasons/import-reasons.ts';

/** RE2 has no equivalent; the message is for users. */
export class NoEquivalent extends Error {
  readonly reason: ImportReason;

  constructor(reason: ImportReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Number of repetitions; `max` null = unlimited, `min` -1 = not given. */
export interface Range {
  readonly min: number;
  readonly max: number | null;
  /** Text in the syntax of RE2. */
  readonly text: string;
}

/** A part of a pattern. */
export interface Piece {
  readonly text: string;
  /** Whether a quantifier can follow the text. */
  readonly isAtom: boolean;
  /** Whether the piece can match the empty string. */
  readonly isNullable: boolean;
  /** Whether the piece matches the empty string only at certain places, such as at the start. */
  readonly isAnchored: boolean;
  /** Whether every match begins or ends with a letter, a digit or an underscore. */
  readonly startsWord: boolean;
  readonly endsWord: boolean;
  /** Whether the piece is only an anchor. TRE ignores quantifiers on anchors: it reads `^*a` as `^a`. */
  readonly isAnchor?: boolean;
  /** Set if the piece is the start or the end of a word; RE2 has no such anchors. */
  readonly edge?: 'start' | 'end';
}

/** Matches the empty string at any position. */
export const EMPTY: Piece = {
  text: '',
  isAtom: false,
  isNullable: true,
  isAnchored: false,
  startsWord: false,
  endsWord: false,
};
/** A character, or a set of characters. */
export function character(text: string, isWord: boolean): Piece {
  return {
    text,
    isAtom: true,
    isNullable: false,
    isAnchored: false,
    startsWord: isWord,
    endsWord: isWord,
  };
}

/** An assertion about the position, which reads no character. */
export function anchor(text: string): Piece {
  return { ...EMPTY, text, isAnchored: true, isAnchor: true };
}

/** Concatenates pieces. */
export function joined(pieces: readonly Piece[]): Piece {
  if (pieces.length === 0) return EMPTY;
  if (pieces.length === 1 && pieces[0]!.edge === undefined) return pieces[0]!;
  for (const [index, { edge }] of pieces.entries()) {
    if (edge === 'start' && pieces[index + 1]?.startsWord !== true)
      throw new NoEquivalent(importReason('pihole_word_edge_before', { mark: '\\<' }));
    if (edge === 'end' && pieces[index - 1]?.endsWord !== true)
      throw new NoEquivalent(importReason('pihole_word_edge_after', { mark: '\\>' }));
  }
  const isNullable = pieces.every((piece) => piece.isNullable);
  return {
    // Pieces are joined without parentheses, so a piece with alternatives must be the only one.
    text: pieces.map(({ text }) => text).join(''),
    isAtom: false,
    isNullable,
    isAnchored: isNullable && pieces.some(({ isAnchored }) => isAnchored),
    startsWord: pieces[0]!.startsWord,
    endsWord: pieces.at(-1)!.endsWord,
  };
}

/** A piece that is repeated. */
export function repeated(piece: Piece, range: Range): Piece {
  const { max } = range;
  if (piece === EMPTY || max === 0) return EMPTY;
  if (range.min < 0 && piece.isNullable && piece.isAnchored)
    throw new NoEquivalent(importReason('pihole_anchor_repetition'));
  if (piece.isAnchor === true) return piece;
  // TRE keeps the anchor of a part that can match the empty string: for TRE, `(^|a)*b` means `(^|a)+b`.
  const isRaised = range.min === 0 && piece.isNullable && piece.isAnchored;
  const min = isRaised ? 1 : Math.max(range.min, 0);
  if (min === 1 && max === 1) return piece;
  const body = piece.isAtom ? piece.text : `(?:${piece.text})`;
  return {
    ...piece,
    text: body + (isRaised ? `{1,${max ?? ''}}` : range.text),
    isAtom: false,
    isNullable: min === 0 || piece.isNullable,
    startsWord: min > 0 && piece.startsWord,
    endsWord: min > 0 && piece.endsWord,
  };
}
