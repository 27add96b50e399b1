/**
 * AdGuard Home's user rules. In AdGuard Home they form one list, in which exceptions take precedence, and which
 * allowlists override; so they become custom rules in the same order. Pure.
 */
import { type ImportReason, importReason } from '../../../../../shared/policy/reasons/import-reasons.ts';
import { readAdblockRule } from '../../../../policy/compile/parse/adblock-rule.ts';
import { compileProgram } from '../../../../../shared/policy/regex.ts';
import type { GeneratedLists } from '../../plan/generated-lists.ts';
import { addHostsRecords, isSinkLine, readHostsLine } from '../../plan/hosts-lines.ts';
import type { PlanBuilder } from '../../plan/plan-builder.ts';
import { withAddresses, withoutTags } from './client-modifier.ts';
import { oddityOf } from './odd-rules.ts';

/** Recipients of the imported rules. */
export interface UserRuleParts {
  readonly builder: PlanBuilder;
  readonly lists: GeneratedLists;
  /** Groups that are filtered; null = every group, empty = the rules are kept, but disabled. */
  readonly groups: readonly string[] | null;
  /** Addresses, networks and MACs of clients by name, for `$client`. */
  readonly addressesOf: ReadonlyMap<string, readonly string[]>;
  /** Names of clients by tag, for `$ctag`. */
  readonly namesOf: ReadonlyMap<string, readonly string[]>;
}

/** Meaning of a line. */
type UserRule =
  | { readonly kind: 'record'; readonly line: string }
  | {
      readonly kind: 'rule';
      readonly line: string;
      readonly rule: string;
      readonly oddity?: ImportReason | null;
    }
  | { readonly kind: 'unknown'; readonly line: string; readonly reason: ImportReason };

/** Number of rules beyond which the report has a single item for all of them. */
const MAX_ITEMS = 2000;

/** Adds all rules. */
export function mapUserRules(parts: UserRuleParts, lines: readonly string[]): void {
  const rules = lines.flatMap((line) => withOddity(readRule(line.trim(), parts), parts) ?? []);
  const count = rules.filter(({ kind }) => kind === 'rule').length;
  const item = count > MAX_ITEMS ? parts.builder.item('list_rule', `${count} rules`) : null;
  for (const rule of rules) mapRule(parts, item, rule);
}

function withOddity(rule: UserRule | null, { addressesOf }: UserRuleParts): UserRule | null {
  return rule?.kind === 'rule' ? { ...rule, oddity: oddityOf(rule.line, addressesOf.keys()) } : rule;
}

function readRule(line: string, { addressesOf, namesOf }: UserRuleParts): UserRule | null {
  if (line === '' || line.startsWith('!') || line.startsWith('#')) return null;
  if (readHostsLine(line) !== null)
    return isSinkLine(line) ? { kind: 'rule', line, rule: line } : { kind: 'record', line };
  const [, pattern] = /^(?:@@)?\/(.+)\/$/.exec(line) ?? [];
  if (pattern !== undefined) return readPattern(line, pattern);
  const tagged = withoutTags(withoutComment(line), namesOf);
  if (tagged.rule === null) return { kind: 'unknown', line, reason: tagged.reason };
  const addressed = withAddresses(tagged.rule, addressesOf);
  if (addressed === null) return { kind: 'unknown', line, reason: importReason('adguard_no_client') };
  const rule = withAnchor(withoutApex(addressed));
  const outcome = readAdblockRule(rule, false);
  if (outcome.type === 'unused') return { kind: 'unknown', line, reason: outcome.unused.reason };
  return { kind: 'rule', line, rule };
}

function readPattern(line: string, pattern: string): UserRule {
  const outcome = compileProgram(pattern);
  if (!outcome.ok) return { kind: 'unknown', line, reason: outcome.reason };
  if (pattern.includes('/')) return { kind: 'unknown', line, reason: importReason('adguard_matches_urls') };
  return { kind: 'rule', line, rule: line };
}

/** A comment may follow a name, as in lists. */
function withoutComment(line: string): string {
  return /^[\w.-]+[ \t]+#/.test(line) ? line.slice(0, line.search(/[ \t]/)) : line;
}

/** `*.x` means every name below x in AdGuard Home; in Weir it includes x. */
function withoutApex(rule: string): string {
  const [, exception = '', name] = /^(@@)?\*\.([\w.-]+)$/.exec(rule) ?? [];
  return name === undefined ? rule : `${exception}.${name}^`;
}

/** In AdGuard Home, a single label stands for exactly this name; in Weir, it is text that may occur in any name. */
function withAnchor(rule: string): string {
  return rule.replace(/^(@@)?([\w-]+)$/, '$1|$2^');
}

/** `shared` is the item of the report that all rules share, if there is one. */
function mapRule({ builder, lists, groups }: UserRuleParts, shared: number | null, rule: UserRule): void {
  const isOn = groups === null || groups.length > 0;
  switch (rule.kind) {
    case 'unknown':
      return builder.notMapped('list_rule', rule.line, rule.reason);
    case 'record':
      return isOn
        ? addHostsRecords(builder, rule.line)
        : builder.skipped('local_record', rule.line, importReason('adguard_no_filtering'));
    case 'rule': {
      const item = shared ?? builder.item('list_rule', rule.line);
      if (!isOn && shared === null) builder.remark(item, importReason('adguard_filters_nobody'));
      if (isOn && (rule.oddity ?? null) !== null)
        builder.differs('list_rule', rule.line, rule.oddity!, namesIn(rule.line));
      return lists.add(rule.rule, isOn ? groups : null, item, isOn);
    }
  }
}

/** Names in a rule. */
function namesIn(line: string): string[] {
  return (
    line
      .split('$')[0]!
      .toLowerCase()
      .match(/[\w-]+(?:\.[\w-]+)+/g) ?? []
  ).filter((name) => /[a-z]/.test(name));
}
