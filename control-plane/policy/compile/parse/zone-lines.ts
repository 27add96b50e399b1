/**
 * Reads response policy zones in master file form (RFC 1035 section 5). Owners are relative to the zone's apex: the
 * apex is the owner of the SOA record, and the rest of an owner is the name to which the record applies.
 */
import { lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import type { ScopedAction, ScopedMeaning } from '../scopes/scoped-entry.ts';
import { isAddressTrigger, networkOfTrigger } from './address-trigger.ts';
import { isNull } from './config-line.ts';
import { explainForeignLine, invalidLine, skippedLine } from './foreign-line.ts';
import { MAX_RULE_BYTES, textBetween } from './line-bytes.ts';
import type { UnusedLine } from './list-statistics.ts';
import { ruleKinds, type RuleOutput } from './rule-output.ts';
import type { ScopedNames } from './scoped-names.ts';

/** Maximum number of lines of a record. */
const MAX_HEAD_LINES = 20;
/** Bytes that distinguish `$TTL` and `$ORIGIN` from other words. */
const ZONE_OPTION_BYTES = 8;

const BAD_TRIGGER = invalidLine(lineReason('rpz_address'));
const TOO_LONG = invalidLine(lineReason('rule_too_long', { bytes: MAX_RULE_BYTES }));
const REWRITE = skippedLine(lineReason('rpz_rewrite'));
const TRIGGER = skippedLine(lineReason('rpz_trigger'));
const ROOT_WILDCARD = invalidLine(lineReason('every_name_star'));
const OUTSIDE = skippedLine(lineReason('outside_zone'));

const TYPES: ReadonlySet<string> = new Set(
  'A AAAA CNAME DNAME HTTPS MX NAPTR NS PTR SOA SRV SVCB TXT'.split(' '),
);

/** Effect of the records of an owner name, or the reason if they have none. */
type Action = ScopedAction | UnusedLine;

const MEANINGS: Readonly<Record<ScopedAction, Readonly<Record<'exact' | 'below', ScopedMeaning>>>> = {
  block: meaningsOf({ action: 'block' }),
  allow: meaningsOf({ action: 'allow' }),
  pass: meaningsOf({ action: 'pass' }),
};
/** Meaning of data whose type is not an address. */
const OTHER_DATA = meaningsOf({ action: 'pass', isWeak: true });

/** The lines of one zone. */
export class ZoneLines {
  private readonly allow: boolean;
  private readonly isCustom: boolean;
  private readonly output: RuleOutput;
  private readonly names: ScopedNames;
  /** Name of the zone's apex, and origin of relative names; '' = the root, undefined = not known yet. */
  private apex: string | undefined;
  private origin: string | undefined;
  /** The owner of the last record. */
  private owner = '@';
  private isZone = false;
  /** Number of further lines that the current record in parentheses may have. */
  private headLines = 0;

  /**
   * `allow`: all rules of the list are allow rules. `isCustom`: users wrote the list in Weir, so its updates are never
   * held.
   */
  constructor(
    { allow, isCustom }: { readonly allow: boolean; readonly isCustom: boolean },
    output: RuleOutput,
    names: ScopedNames,
  ) {
    this.allow = allow;
    this.isCustom = isCustom;
    this.output = output;
    this.names = names;
  }

  /** Whether the list is known to be a zone, so that `readLine()` must be the first to get each line. */
  get isOpen(): boolean {
    return this.isZone || this.headLines > 0;
  }

  /** A line of a zone; undefined if it is not a record. An indented line has the same owner as the previous record. */
  readLine(
    bytes: Uint8Array,
    start: number,
    end: number,
    isIndented: boolean,
  ): UnusedLine | null | undefined {
    if (end - start > MAX_RULE_BYTES) return this.headLines > 0 ? TOO_LONG : undefined;
    const line = withoutComment(textBetween(bytes, start, end));
    if (this.headLines > 0) {
      this.headLines = line.includes(')') ? 0 : this.headLines - 1;
      return null;
    }
    const trimmed = line.trim();
    if (trimmed === '') return null;
    const words = trimmed.split(/\s+/);
    if (words[0]!.startsWith('$')) return this.readOption(words);
    const owner = isIndented ? this.owner : words.shift()!;
    while (/^(?:\d+[smhdw]?|IN)$/i.test(words[0] ?? '')) words.shift();
    const type = words.shift()?.toUpperCase() ?? '';
    if (!TYPES.has(type)) return undefined;
    this.owner = owner;
    if (line.includes('(') && !line.includes(')')) this.headLines = MAX_HEAD_LINES;
    return this.readRecord(owner, type, words[0]?.toLowerCase());
  }

  /** Reads a line that starts with `@` or `$`; the line is unknown unless it is part of a zone. */
  readApex(bytes: Uint8Array, start: number, end: number): UnusedLine | null {
    const read = this.readLine(bytes, start, end, false);
    return read === undefined ? explainForeignLine(bytes, start, end) : read;
  }

  private readOption([option = '', value = '']: readonly string[]): UnusedLine | null | undefined {
    this.isZone = true;
    if (/^\$TTL$/i.test(option)) return null;
    if (!/^\$ORIGIN$/i.test(option)) return undefined;
    this.origin = this.absolute(value) ?? value.toLowerCase();
    return null;
  }

  private readRecord(owner: string, type: string, target: string | undefined): UnusedLine | null {
    if (type === 'SOA') {
      this.isZone = true;
      this.apex ??= this.absolute(owner);
      this.origin ??= this.apex;
      return null;
    }
    if (type === 'NS') return null;
    const trigger = this.triggerOf(owner);
    if (trigger === null) return OUTSIDE;
    const action = actionOf(trigger, type, target);
    if (isAddressTrigger(trigger)) return this.readAddress(trigger, action);
    const isOther = type !== 'A' && type !== 'AAAA' && type !== 'CNAME';
    return this.readName(trigger, action, isOther);
  }

  private readName(trigger: string, action: Action, isOther: boolean): UnusedLine | null {
    const reason = typeof action === 'string' ? null : action;
    const isWildcard = trigger.startsWith('*.');
    const name = isWildcard ? trigger.slice(2) : trigger;
    if (trigger === '*') return reason ?? this.readRootWildcard(action === 'allow');
    // Records at the apex of the zone, such as SOA, do not apply to any name.
    if (name === '') return null;
    if (reason === TRIGGER) return reason;
    const meanings = isOther ? OTHER_DATA : MEANINGS[typeof action === 'string' ? action : 'pass'];
    return this.names.add(name, meanings[isWildcard ? 'below' : 'exact']) ?? reason;
  }

  /**
   * Reads a wildcard at the root, which covers every name. An update with such a line is held until a user approves it.
   * Custom rules are never held, so the line gives no rule there.
   */
  private readRootWildcard(allows: boolean): UnusedLine | null {
    if (this.isCustom) return ROOT_WILDCARD;
    const { suffix: kind } = ruleKinds(this.allow || allows);
    const rule = `* CNAME ${allows ? 'rpz-passthru.' : '.'}`;
    return this.output.special({ kind, match: 'pattern', text: '*', rule, forEveryName: true }, 'rpz');
  }

  private readAddress(trigger: string, action: Action): UnusedLine | null {
    if (typeof action !== 'string') return action;
    const network = trigger.startsWith('*.') ? null : networkOfTrigger(trigger);
    if (network === null) return BAD_TRIGGER;
    return this.output.network(network, ruleKinds(this.allow || action === 'allow').exact, 'rpz');
  }

  /** The owner without the name of the zone; '' for the apex, null outside the zone. */
  private triggerOf(owner: string): string | null {
    const absolute = this.absolute(owner);
    if (absolute === undefined) return owner === '@' ? '' : owner.toLowerCase();
    // Without a SOA record, the first origin is the name of the apex.
    this.apex ??= this.origin;
    if (this.apex === undefined || this.apex === '') return absolute;
    if (absolute === this.apex) return '';
    return absolute.endsWith(`.${this.apex}`) ? absolute.slice(0, -this.apex.length - 1) : null;
  }

  /** The absolute form of a name, in lower case and without a final dot; undefined if the origin is unknown. */
  private absolute(written: string): string | undefined {
    const name = written.toLowerCase();
    if (name === '@') return this.origin;
    if (name.endsWith('.')) return name.slice(0, -1);
    if (this.origin === undefined) return undefined;
    return this.origin === '' ? name : `${name}.${this.origin}`;
  }
}

/** Whether the line is a `$TTL` or `$ORIGIN`. */
export function isZoneOption(bytes: Uint8Array, start: number, end: number): boolean {
  return /^\$(?:TTL|ORIGIN)\b/i.test(textBetween(bytes, start, Math.min(end, start + ZONE_OPTION_BYTES)));
}

/** Whether `rest`, which follows a name, is a resource record and not ordinary text. */
export function isRecord(rest: string): boolean {
  return /^\s+(?:\d+[smhdw]?\s+(?:IN\s+)?|IN\s+(?:\d+[smhdw]?\s+)?)?(?:(?:CNAME|SOA|NS|TXT)\s+\S|A\s+\d+\.[\d.]+(?:[\s;]|$)|AAAA\s+[\da-f]*:[\da-f:.]*(?:[\s;]|$))/i.test(
    rest,
  );
}

function meaningsOf(
  meaning: Pick<ScopedMeaning, 'action' | 'isWeak'>,
): Readonly<Record<'exact' | 'below', ScopedMeaning>> {
  return {
    exact: { ...meaning, reach: 'exact', form: 'rpz' },
    below: { ...meaning, reach: 'below', form: 'rpz' },
  };
}

function actionOf(trigger: string, type: string, target: string | undefined): Action {
  if (/(?:^|\.)rpz-(?:client-ip|nsip|nsdname)(?:\.|$)/i.test(trigger)) return TRIGGER;
  if (target === undefined) return REWRITE;
  if (type === 'A' || type === 'AAAA') return isNull(target) ? 'block' : REWRITE;
  if (type !== 'CNAME') return REWRITE;
  if (target === '.' || target === '*.' || target === 'rpz-drop.') return 'block';
  return target === 'rpz-passthru.' ? 'allow' : REWRITE;
}

/** The text before a `;` outside quotes. */
function withoutComment(line: string): string {
  if (!line.includes(';')) return line;
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\') at++;
    else if (line[at] === '"') isQuoted = !isQuoted;
    else if (line[at] === ';' && !isQuoted) return line.slice(0, at);
  }
  return line;
}
