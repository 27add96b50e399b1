/** Pi-hole's exact and regex domains as managed domains and regex filters. Pure. */
import { readRegexRule } from '../../../shared/automata/regex-filter.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PiholeDomain } from './pihole-settings.ts';
import { fromTre, wildcardName } from './tre-pattern.ts';

const EXACT_DENY = 1;
const REGEX_ALLOW = 2;
const REGEX_DENY = 3;

/** Where rules go. */
export interface RuleParts {
  readonly builder: PlanBuilder;
  /** Names of the groups of a domain; empty = it is for no client. */
  readonly groupsOf: (id: number) => readonly string[];
}

/** Adds all domains. */
export function mapDomains(parts: RuleParts, domains: readonly PiholeDomain[]): void {
  // Weir's managed domains outrank its regex filters. A denied name and those below it may become a managed domain only
  // where no regex could allow one of them.
  const isAllowing = ({ type, domain, enabled }: PiholeDomain): boolean =>
    type === REGEX_ALLOW && enabled && wildcardName(domain) === null;
  const hasAllowRegex = domains.some(isAllowing);
  const denies = domains.filter(({ type, enabled }) => type === EXACT_DENY && enabled).length;
  for (const domain of domains) mapDomain(parts, domain, hasAllowRegex);
  if (hasAllowRegex && denies > 0)
    parts.builder.notMapped(
      'other',
      'allow regexes over exact denies',
      `in Pi-hole an allow regex beats an exact deny; in Weir each of the ${denies} exact denies decides`,
    );
}

function mapDomain(parts: RuleParts, row: PiholeDomain, hasAllowRegex: boolean): void {
  const { builder } = parts;
  const { type, domain } = row;
  if (type < 0 || type > REGEX_DENY) return builder.notMapped('other', domain, 'a domain of an unknown type');
  if (type < REGEX_ALLOW) return addRule(parts, row, 'managed_domains', domain.trim());
  const [pattern = '', ...options] = domain.split(';');
  const name = options.length > 0 ? null : wildcardName(pattern);
  if (name !== null && (type === REGEX_ALLOW || !hasAllowRegex))
    return addRule(parts, row, 'managed_domains', `*.${name}`, `was the regex ${pattern}`);
  const read = fromTre(pattern);
  if ('reason' in read) return builder.notMapped('regex_filter', domain, read.reason);
  const text = [read.pattern, ...options].join(';');
  // A filter has the options that Pi-hole has, except for some of their values.
  const rule = readRegexRule(text);
  if ('reason' in rule) return builder.notMapped('regex_filter', domain, rule.reason);
  addRule(parts, row, 'regex_filters', text, read.pattern === pattern ? null : `written as ${text}`);
}

function addRule(
  { builder, groupsOf }: RuleParts,
  row: PiholeDomain,
  table: 'managed_domains' | 'regex_filters',
  text: string,
  remark: string | null = null,
): void {
  const item = builder.item(
    table === 'managed_domains' ? 'managed_domain' : 'regex_filter',
    row.domain,
    remark,
  );
  const groups = groupsOf(row.id);
  const hasGroups = groups.length > 0;
  if (!hasGroups) builder.remark(item, 'it is in no group, so it is switched off');
  const action = row.type === EXACT_DENY || row.type === REGEX_DENY ? 'deny' : 'allow';
  const { comment } = row;
  const rule = { table, text, action, comment, groups: hasGroups ? groups : null } as const;
  builder.rule({ ...rule, enabled: row.enabled && hasGroups }, item);
}
