/**
 * Maps Pi-hole's exact and regex domains to managed domains, regex filters and list rules. Pi-hole's order: exact and
 * regex allows, exact denies, allowlists, blocklists, regex denies. Weir's managed domains override its regex filters,
 * and both override lists; so regex denies become list rules if there are allowlists, and an exact deny that is allowed
 * by a regex becomes a regex filter. Pure.
 */
import {
  type ImportReason,
  importReason,
  joinReasons,
} from '../../../../shared/policy/reasons/import-reasons.ts';
import { compileExpression } from '../../../../shared/automata/expression.ts';
import { finds } from '../../../../shared/automata/reach.ts';
import { refuseRegexFilter } from '../../../../shared/automata/regex-filter.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import type { GeneratedLists } from '../plan/generated-lists.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PiholeDomain } from './pihole-settings.ts';
import { readOptions, type Reply, type RuleOptions } from './rule-options.ts';
import { fromTre, wildcardName } from './tre/tre-pattern.ts';

const EXACT_DENY = 1;
const REGEX_ALLOW = 2;
const REGEX_DENY = 3;
const MEANT_FOR_EVERY_NAME = '.*';

/** Recipients of rules, and the settings that affect them. */
export interface RuleParts {
  readonly builder: PlanBuilder;
  readonly lists: GeneratedLists;
  /** Names of the groups of a domain; empty = the domain applies to no client. */
  readonly groupsOf: (id: number) => readonly string[];
  /** Whether an allowlist is active, which overrides regex denies in Pi-hole. */
  readonly hasAllowlist: boolean;
  /** Addresses with which Pi-hole answers blocked queries. */
  readonly blockingAddresses: readonly string[];
}

/** The rules of a Pi-hole. */
export interface MappedRules {
  /**
   * The rule that denies a name for some group, in Pi-hole's notation; null if no rule denies the name, or if a rule
   * allows it.
   */
  readonly denierOf: (name: string) => string | null;
}

/** A regex that has an equivalent in Weir. */
interface ReadRegex {
  readonly row: PiholeDomain;
  /** The rule in Pi-hole's form, without options. */
  readonly written: string;
  /** The pattern for RE2. */
  readonly pattern: string;
  readonly options: RuleOptions;
}

/** Adds all domains. */
export function mapDomains(parts: RuleParts, domains: readonly PiholeDomain[]): MappedRules {
  const { builder } = parts;
  const regexes = new Map<PiholeDomain, ReadRegex>();
  for (const row of domains) {
    if (row.type !== REGEX_ALLOW && row.type !== REGEX_DENY) continue;
    const read = readRegex(row);
    if ('reason' in read)
      builder.notMapped('regex_filter', row.domain, joinReasons(verbOf(row), read.reason));
    else regexes.set(row, read);
  }
  const isActive = (row: PiholeDomain): boolean => row.enabled && parts.groupsOf(row.id).length > 0;
  const active = [...regexes.values()].filter(({ row }) => isActive(row));
  const matchers = active.map((regex) => ({ ...regex, isFound: matcherOf(regex.pattern) }));
  const allows = matchers.filter(({ row }) => row.type === REGEX_ALLOW);
  const hasAllowRegex = allows.some(({ written }) => wildcardName(written) === null);
  for (const row of domains) {
    const regex = regexes.get(row);
    if (regex !== undefined) mapRegex(parts, regex, hasAllowRegex);
    else if (row.type === 0 || row.type === EXACT_DENY) {
      const name = row.domain.trim();
      const allow =
        row.type === EXACT_DENY ? allows.find(({ isFound }) => isFound(name.toLowerCase())) : undefined;
      mapExact(parts, row, allow?.row.domain);
    } else if (row.type < 0 || row.type > REGEX_DENY)
      builder.notMapped('other', row.domain, importReason('pihole_unknown_type'));
  }
  const exact = domains.filter((row) => row.type < REGEX_ALLOW && isActive(row));
  return {
    denierOf: (name) => {
      const rows = exact.filter(({ domain }) => canonicalDomain(domain) === name);
      const found = matchers.filter(({ isFound }) => isFound(name)).map(({ row }) => row);
      const isAllowed = [...rows, ...found].some(({ type }) => type === 0 || type === REGEX_ALLOW);
      return isAllowed ? null : ([...rows, ...found][0]?.domain ?? null);
    },
  };
}

/** A rule for exactly one name. */
function mapExact(parts: RuleParts, row: PiholeDomain, allowedBy: string | undefined): void {
  const name = row.domain.trim();
  const canonical = canonicalDomain(name);
  if (allowedBy === undefined || canonical === null) return addRule(parts, row, 'managed_domains', name);
  const remark = importReason('pihole_as_regex', { rule: allowedBy });
  addRule(parts, row, 'regex_filters', `^${escaped(canonical)}$`, remark);
}

function mapRegex(parts: RuleParts, regex: ReadRegex, hasAllowRegex: boolean): void {
  const { builder, hasAllowlist } = parts;
  const { row, written, pattern, options } = regex;
  const isAllow = row.type === REGEX_ALLOW;
  const name = options.types === null && options.reply === null ? wildcardName(written) : null;
  if (name !== null && (isAllow || !(hasAllowRegex || hasAllowlist)))
    return addRule(
      parts,
      row,
      'managed_domains',
      `*.${name}`,
      importReason('pihole_was_regex', { regex: written }),
    );
  const reply = isAllow ? null : replyIn(parts, row, options.reply);
  const remarks = pattern === written ? [] : [importReason('pihole_written_as', { pattern })];
  if (isAllow && options.reply !== null) remarks.push(importReason('pihole_reply_unused'));
  if (reply?.kind === 'addresses' && reply.addresses.length === 1)
    remarks.push(importReason('pihole_other_address'));
  const needsList = reply?.kind === 'alias' || (reply?.kind === 'addresses' && reply.addresses.length > 1);
  if (!isAllow && (hasAllowlist || needsList)) {
    remarks.unshift(hasAllowlist ? importReason('pihole_list_rule_order') : importReason('pihole_list_rule'));
    return addListRule(parts, regex, { name, reply, remarks });
  }
  const text = [pattern, ...filterOptions(options, reply)].join(';');
  const fault = refuseRegexFilter(text);
  if (fault !== null) return builder.notMapped('regex_filter', row.domain, joinReasons(verbOf(row), fault));
  addRule(parts, row, 'regex_filters', text, remarks.length === 0 ? null : joinReasons(...remarks));
}

/** The reply of a rule in Weir; null = the reply according to `blocking.mode`. */
function replyIn(
  { builder, blockingAddresses }: RuleParts,
  { domain, enabled }: PiholeDomain,
  reply: Reply | null,
): Exclude<Reply, { kind: 'own_address' | 'none' }> | null {
  if (reply === null || (reply.kind !== 'own_address' && reply.kind !== 'none')) return reply;
  if (reply.kind === 'own_address' && blockingAddresses.length > 0)
    return { kind: 'addresses', addresses: blockingAddresses };
  const answer = importReason(reply.kind === 'none' ? 'pihole_no_reply' : 'pihole_own_reply');
  if (enabled)
    builder.differs('regex_filter', domain, joinReasons(importReason('pihole_denies'), answer), []);
  return null;
}

function addRule(
  { builder, groupsOf }: RuleParts,
  row: PiholeDomain,
  table: 'managed_domains' | 'regex_filters',
  text: string,
  remark: ImportReason | null = null,
): void {
  const kind = table === 'managed_domains' ? 'managed_domain' : 'regex_filter';
  const item = builder.item(kind, row.domain, remark);
  const groups = groupsOf(row.id);
  const hasGroups = groups.length > 0;
  if (!hasGroups) builder.remark(item, importReason('pihole_no_group'));
  const action = row.type === EXACT_DENY || row.type === REGEX_DENY ? 'deny' : 'allow';
  const { comment } = row;
  const rule = { table, text, action, comment, groups: hasGroups ? groups : null } as const;
  builder.rule({ ...rule, enabled: row.enabled && hasGroups }, item);
}

function addListRule(
  { builder, lists, groupsOf }: RuleParts,
  { row, pattern, options }: ReadRegex,
  {
    name,
    reply,
    remarks,
  }: {
    readonly name: string | null;
    readonly reply: Reply | null;
    readonly remarks: readonly ImportReason[];
  },
): void {
  const fault = refuseRegexFilter([pattern, ...filterOptions(options, null)].join(';'));
  if (fault !== null)
    return builder.notMapped('regex_filter', row.domain, joinReasons(importReason('pihole_denies'), fault));
  const groups = groupsOf(row.id);
  const item = builder.item('list_rule', row.domain, joinReasons(...remarks));
  const isOn = row.enabled && groups.length > 0;
  if (!isOn) builder.remark(item, importReason('pihole_disabled_line'));
  const place = name === null ? `/${pattern}/` : `||${name}^`;
  const { types } = options;
  const dnstype =
    types === null
      ? []
      : [`dnstype=${types.names.map((type) => (types.isExcept ? `~${type}` : type)).join('|')}`];
  for (const answer of answersOf(reply))
    lists.add(`${place}$${[...dnstype, answer].join(',')}`, groups.length > 0 ? groups : null, item, isOn);
}

/**
 * Modifiers of a list rule; with `$important`, exceptions in blocklists do not override a deny without a reply, because
 * a user wrote it.
 */
function answersOf(reply: Reply | null): string[] {
  switch (reply?.kind) {
    case 'code':
      return [reply.code === 'NODATA' ? 'dnsrewrite=NOERROR;;' : `dnsrewrite=${reply.code}`];
    case 'addresses':
      return reply.addresses.map((address) => `dnsrewrite=${address}`);
    case 'alias':
      return [`dnsrewrite=NOERROR;CNAME;${reply.target}`];
    default:
      return ['important'];
  }
}

/** Options of a regex filter, in the same notation as in Pi-hole. */
function filterOptions({ types }: RuleOptions, reply: Reply | null): string[] {
  const querytype = types === null ? [] : [`querytype=${types.isExcept ? '!' : ''}${types.names.join(',')}`];
  if (reply?.kind === 'code') return [...querytype, `reply=${reply.code}`];
  return reply?.kind === 'addresses' ? [...querytype, `reply=${reply.addresses[0]!}`] : querytype;
}

function readRegex(row: PiholeDomain): ReadRegex | { readonly reason: ImportReason } {
  const read = readOptions(row.domain);
  if ('reason' in read) return read;
  const { reply } = read.options;
  if (read.options.isInverted) return { reason: importReason('pihole_inverted') };
  if (reply?.kind === 'alias' && canonicalDomain(reply.target) === null)
    return { reason: importReason('pihole_reply_name') };
  const rewritten = fromTre(read.pattern);
  if ('reason' in rewritten) return rewritten;
  const { options, pattern: written } = read;
  return { row, written, options, pattern: inWeirsForm(rewritten.pattern) };
}

/** Weir has only one notation for a regular expression that matches every name regardless of its letters. */
function inWeirsForm(pattern: string): string {
  if (pattern === '') return MEANT_FOR_EVERY_NAME;
  const compiled = compileExpression(pattern);
  if ('reason' in compiled) return pattern;
  const { found, start } = compiled.automaton;
  return found[start] === 0 ? pattern : MEANT_FOR_EVERY_NAME;
}

function matcherOf(pattern: string): (name: string) => boolean {
  const compiled = compileExpression(pattern);
  if ('reason' in compiled) return () => false;
  return (name) => finds(compiled.automaton, name);
}

function verbOf({ type }: PiholeDomain): ImportReason {
  return type === REGEX_ALLOW ? importReason('pihole_allows') : importReason('pihole_denies');
}

function escaped(name: string): string {
  return name.replaceAll('.', '\\.');
}
