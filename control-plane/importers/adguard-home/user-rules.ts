/**
 * AdGuard Home's own rules. There all rules are one list in which exceptions win, so they may become managed domains and
 * regex filters, which people can edit one by one, only where that answers the same; else all of them are one list. Pure.
 */
import { readAdblockRule } from '../../compile/parse/adblock-rule.ts';
import { canonicalDomain } from '../../../shared/policy/domain-rule.ts';
import { compileProgram } from '../../../shared/policy/regex.ts';
import type { GeneratedLists } from '../plan/generated-lists.ts';
import { addHostsLine, isSinkLine, readHostsLine } from '../plan/hosts-lines.ts';
import { OwnNames } from '../plan/own-names.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { withAddresses } from './client-modifier.ts';

/** Where rules go. */
export interface UserRuleParts {
  readonly builder: PlanBuilder;
  readonly lists: GeneratedLists;
  /** Groups that are filtered; null = every group, empty = the rules are kept, but off. */
  readonly groups: readonly string[] | null;
  /** Addresses, networks and MACs of clients by name, for `$client`. */
  readonly addressesOf: ReadonlyMap<string, readonly string[]>;
}

/** What a line is. */
type UserRule =
  | { readonly kind: 'hosts'; readonly line: string }
  | { readonly kind: 'name'; readonly line: string; readonly text: string; readonly action: 'allow' | 'deny' }
  | {
      readonly kind: 'regex';
      readonly line: string;
      readonly text: string;
      readonly action: 'allow' | 'deny';
    }
  | { readonly kind: 'list'; readonly line: string; readonly rule: string }
  | { readonly kind: 'unknown'; readonly line: string; readonly reason: string };

/** Beyond this many rules people do not edit them one by one. */
const MOST_SINGLE = 2000;
const LOWER = 'a rule of a list, which ranks below managed domains and filters';

/** Adds all rules. */
export function mapUserRules(parts: UserRuleParts, lines: readonly string[]): void {
  const rules = lines.flatMap((line) => readRule(line.trim(), parts.addressesOf) ?? []);
  const isMany = rules.length > MOST_SINGLE;
  const isOneList = isMany || rules.some(needsOneList);
  const names = new OwnNames(parts.builder, parts.lists);
  // Of so many, the report has one item.
  const item = isMany ? parts.builder.item('list_rule', `${rules.length} rules`, LOWER) : null;
  for (const rule of rules) mapRule(parts, { names, isOneList, item }, rule);
  names.finish();
}

/** Whether a rule means the same in a list only: an exception with a pattern, or a rule with a rank of its own. */
function needsOneList(rule: UserRule): boolean {
  if (rule.kind === 'regex') return rule.action === 'allow';
  return (
    rule.kind === 'list' && (rule.rule.startsWith('@@') || /[$,](?:important|badfilter)\b/.test(rule.rule))
  );
}

function readRule(line: string, addressesOf: UserRuleParts['addressesOf']): UserRule | null {
  if (line === '' || line.startsWith('!') || line.startsWith('#')) return null;
  if (readHostsLine(line) !== null) return { kind: 'hosts', line };
  const [, exception, below] = /^(@@)?\|\|([^|^$*/]+)\^\|?$/.exec(line) ?? [];
  const action = exception === undefined ? 'deny' : 'allow';
  if (below !== undefined && canonicalDomain(below) !== null)
    return { kind: 'name', line, text: `*.${below}`, action };
  if (canonicalDomain(line) !== null) return { kind: 'name', line, text: line, action: 'deny' };
  const [, allows, pattern] = /^(@@)?\/(.+)\/$/.exec(line) ?? [];
  if (pattern !== undefined) return readPattern(line, pattern, allows === undefined ? 'deny' : 'allow');
  const rule = withAddresses(line, addressesOf);
  if (rule === null)
    return { kind: 'unknown', line, reason: 'it names a client that has no address, MAC or ClientID' };
  const outcome = readAdblockRule(rule, false);
  if (outcome.type === 'unused') return { kind: 'unknown', line, reason: outcome.unused.reason };
  return { kind: 'list', line, rule };
}

function readPattern(line: string, pattern: string, action: 'allow' | 'deny'): UserRule {
  const outcome = compileProgram(pattern);
  if (!outcome.ok) return { kind: 'unknown', line, reason: outcome.reason };
  if (pattern.includes('/')) return { kind: 'unknown', line, reason: 'it matches URLs; names have no slash' };
  return { kind: 'regex', line, text: pattern, action };
}

/** Where a rule goes; `item` is that of all rules in the one list. */
interface RulePlace {
  readonly names: OwnNames;
  readonly isOneList: boolean;
  readonly item: number | null;
}

function mapRule(parts: UserRuleParts, into: RulePlace, rule: UserRule): void {
  const { builder, lists } = parts;
  const { names, isOneList } = into;
  const isOn = parts.groups === null || parts.groups.length > 0;
  const groups = isOn ? parts.groups : null;
  if (rule.kind === 'unknown') return builder.notMapped('list_rule', rule.line, rule.reason);
  const isRecord = rule.kind === 'hosts' && (!isOneList || !isSinkLine(rule.line));
  if (isRecord && isOn) return void addHostsLine(builder, names, rule.line, groups);
  if (rule.kind === 'hosts' || rule.kind === 'list' || isOneList) {
    const item = into.item ?? builder.item('list_rule', rule.line, LOWER);
    return lists.add(rule.kind === 'list' ? rule.rule : rule.line, groups, item, isOn);
  }
  const isName = rule.kind === 'name';
  const item = builder.item(isName ? 'managed_domain' : 'regex_filter', rule.line);
  if (!isOn) builder.remark(item, 'no client is filtered there, so it is switched off');
  const table = isName ? 'managed_domains' : 'regex_filters';
  const { text, action } = rule;
  builder.rule({ table, text, action, groups, comment: '', enabled: isOn }, item);
}
