/** The modifiers after the `$` of an Adblock-style rule that apply to a DNS server. */
import { rrTypeCode } from '../../../../shared/dns/iana.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import { type LineReason, lineReason } from '../../../../shared/policy/reasons/line-reasons.ts';
import type { RewriteAnswer, SpecialRule } from '../../../../shared/snapshot/special-rules.ts';
import { type ClientCondition, readClientCondition, splitUnescaped } from './client-condition.ts';
import { readRewriteValue } from './rewrite-value.ts';

/** The parsed modifiers of a rule. */
export interface Modifiers {
  readonly important: boolean;
  readonly badfilter: boolean;
  readonly rewrite: RewriteAnswer | undefined;
  /** Whether the rule applies only to some queries for its names. */
  readonly hasConditions: boolean;
  /** The fields of a special rule for its conditions and its rewrite. */
  readonly conditions: Conditions;
  /** The modifiers as written, without `badfilter`. */
  readonly written: readonly string[];
}

type Conditions = Pick<SpecialRule, 'types' | 'exceptTypes' | 'denyallow' | 'rewrite'> & ClientCondition;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Reads the text after the `$`; returns a reason if the text cannot be used. */
export function readModifiers(options: string): Modifiers | LineReason {
  const conditions: Writable<Conditions> = {};
  const written: string[] = [];
  let important = false;
  let badfilter = false;
  for (const option of options === '' ? [] : splitUnescaped(options, ',')) {
    const [name, value] = splitOnce(option.trim(), '=');
    if (name !== 'badfilter') written.push(option.trim());
    let fault: LineReason | null = null;
    if (name === 'important' && value === null) important = true;
    else if (name === 'badfilter' && value === null) badfilter = true;
    else if (name === 'dnstype') fault = readTypes(value, conditions);
    else if (name === 'denyallow') fault = readDenyallow(value, conditions);
    else if (name === 'client') fault = readClients(value, conditions);
    else if (name === 'dnsrewrite') fault = readRewrite(value, conditions);
    else fault = lineReason('modifier', { modifier: `$${name.slice(0, 40)}` });
    if (fault !== null) return fault;
  }
  const { rewrite, ...others } = conditions;
  return {
    important,
    badfilter,
    rewrite,
    hasConditions: Object.keys(others).length > 0,
    conditions,
    written,
  };
}

function splitOnce(text: string, separator: string): [string, string | null] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}

function readTypes(value: string | null, into: Writable<Conditions>): LineReason | null {
  const wanted: number[] = [];
  const excepted: number[] = [];
  for (const word of (value ?? '').split('|')) {
    const except = word.startsWith('~');
    const type = rrTypeCode(except ? word.slice(1) : word);
    if (type === undefined) return lineReason('dnstype', { type: word.slice(0, 20) });
    (except ? excepted : wanted).push(type);
  }
  if (wanted.length > 0) into.types = wanted;
  if (excepted.length > 0) into.exceptTypes = excepted;
  return null;
}

function readDenyallow(value: string | null, into: Writable<Conditions>): LineReason | null {
  const names = (value ?? '').split('|').map(canonicalDomain);
  if (names.includes(null)) return lineReason('denyallow');
  into.denyallow = names.filter((name) => name !== null);
  return null;
}

function readClients(value: string | null, into: Writable<Conditions>): LineReason | null {
  const condition = readClientCondition(value ?? '');
  if (typeof condition === 'string') return condition;
  Object.assign(into, condition);
  return null;
}

function readRewrite(value: string | null, into: Writable<Conditions>): LineReason | null {
  const rewrite = readRewriteValue((value ?? '').replaceAll('\\,', ','));
  if (typeof rewrite === 'string') return rewrite;
  into.rewrite = rewrite;
  return null;
}
