/**
 * Reasons in reports of imports: why an item is not imported, or behaves differently here. Each has a code and an
 * English text, in one table for each program. A reason in a report may combine several reasons, see `joinReasons`. The
 * dashboard has the other languages, in `i18n/reasons/`.
 */
import { ADGUARD_REASONS } from './adguard-reasons.ts';
import { BLOCKY_REASONS } from './blocky-reasons.ts';
import { DNSMASQ_REASONS } from './dnsmasq-reasons.ts';
import { type LineReason, readLineReason } from './line-reasons.ts';
import { OTHER_IMPORT_REASONS } from './other-import-reasons.ts';
import { PIHOLE_REASONS } from './pihole-reasons.ts';
import { PLAN_REASONS } from './plan-reasons.ts';
import { ReasonTexts } from './reason-texts.ts';
import type { CodedReason } from './reason-texts.ts';
import type { Params } from './text-params.ts';

/** English texts; `{name}` is a parameter, `{reason}` another reason. */
export const IMPORT_REASONS = {
  ...PLAN_REASONS,
  ...ADGUARD_REASONS,
  ...PIHOLE_REASONS,
  ...BLOCKY_REASONS,
  ...DNSMASQ_REASONS,
  ...OTHER_IMPORT_REASONS,
} as const;

export type ImportReasonCode = keyof typeof IMPORT_REASONS;

declare const MARK: unique symbol;
/** English text of a reason. The mark makes the compiler reject any string that is not such a text. */
export type ImportReason = LineReason | (string & { readonly [MARK]: true });

/** Separator between the reasons of one text; the texts of some reasons also contain it. */
const SEPARATOR = '; ';
/** Separator between a subject and its reason. */
const COLON = ': ';

const texts = new ReasonTexts<typeof IMPORT_REASONS>(IMPORT_REASONS);

export function importReason<Code extends ImportReasonCode>(
  code: Code,
  ...[params]: Params<(typeof IMPORT_REASONS)[Code], string | number>
): ImportReason {
  return texts.say(code, params) as ImportReason;
}

/** A text without a code: a value, or a message from another part of Weir. */
export function plainReason(text: string): ImportReason {
  return text as ImportReason;
}

/** A reason with its subject, such as a server. */
export function reasonAbout(subject: string, reason: ImportReason): ImportReason {
  return `${subject}${COLON}${reason}` as ImportReason;
}

/** Several reasons in one text. */
export function joinReasons(...reasons: readonly ImportReason[]): ImportReason {
  return reasons.join(SEPARATOR) as ImportReason;
}

/** A reason of a report. */
export interface ReadReason {
  /** Text before the reason, such as `192.0.2.1: `; '' = none. */
  readonly subject: string;
  /** The reason; null for a text without a code. */
  readonly reason: (CodedReason<string> & { readonly table: 'import' | 'line' }) | null;
  /** The English text, without the subject. */
  readonly text: string;
}

/**
 * The reasons that a text consists of. Parameters may contain the separator, so a text can be split in several ways;
 * the way with the fewest parts that have no code or belong to a parameter is used.
 */
export function readImportReasons(text: string): readonly ReadReason[] {
  const pieces = text.split(SEPARATOR).slice(0, MAX_PIECES);
  const rest = text.split(SEPARATOR).slice(MAX_PIECES);
  /** For each piece, the best way to split the text that begins with this piece. */
  const best: Reading[] = [];
  best[pieces.length] = {
    cost: rest.length,
    reasons: rest.map((one) => ({ subject: '', reason: null, text: one })),
  };
  for (let start = pieces.length - 1; start >= 0; start--) {
    let found: Reading | null = null;
    for (let end = start + 1; end <= pieces.length; end++) {
      const read = readOne(pieces.slice(start, end).join(SEPARATOR));
      if (read.reason === null && end > start + 1) continue;
      const after = best[end]!;
      const cost = after.cost + costOf(read);
      if (found === null || cost < found.cost) found = { cost, reasons: [read, ...after.reasons] };
    }
    best[start] = found!;
  }
  return best[0]!.reasons;
}

/** Maximum number of pieces that are read, because each piece is tried as the start of a reason. */
const MAX_PIECES = 40;

interface Reading {
  readonly cost: number;
  readonly reasons: readonly ReadReason[];
}

/** 1 for a part without a code, and for each part within parameters. */
function costOf({ reason }: ReadReason): number {
  if (reason === null) return 1;
  const values = Object.values(reason.params);
  return values.reduce((sum, value) => sum + value.split(SEPARATOR).length - 1, 0);
}

function readOne(text: string): ReadReason {
  const reason = readWhole(text);
  const colon = reason === null ? text.indexOf(COLON) : -1;
  if (colon < 0) return { subject: '', reason, text };
  const rest = text.slice(colon + COLON.length);
  const about = readWhole(rest);
  if (about === null) return { subject: '', reason: null, text };
  return { subject: text.slice(0, colon + COLON.length), reason: about, text: rest };
}

function readWhole(text: string): ReadReason['reason'] {
  const reason = texts.read(text);
  if (reason !== null) return { ...reason, table: 'import' };
  const line = readLineReason(text);
  return line === null ? null : { ...line, table: 'line' };
}
