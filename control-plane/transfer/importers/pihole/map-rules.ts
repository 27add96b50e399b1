/** Pi-hole's exact and regex domains as managed domains, regex filters and rules of a list. Pure. */
import { RRType } from '../../../../shared/dns/iana.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';
import type { GeneratedLists } from '../plan/generated-lists.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { PiholeDomain } from './pihole-settings.ts';
import { fromTre, wildcardName } from './tre-pattern.ts';

const EXACT_DENY = 1;
const REGEX_ALLOW = 2;
const REGEX_DENY = 3;

/** Where rules go. */
export interface RuleParts {
  readonly builder: PlanBuilder;
  readonly lists: GeneratedLists;
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
  const name = wildcardName(pattern);
  if (options.length > 0) return mapOptions(parts, row, pattern, options);
  if (name !== null && (type === REGEX_ALLOW || !hasAllowRegex))
    return addRule(parts, row, 'managed_domains', `*.${name}`, `was the regex ${pattern}`);
  const read = fromTre(pattern);
  if ('reason' in read) return builder.notMapped('regex_filter', domain, read.reason);
  addRule(
    parts,
    row,
    'regex_filters',
    read.pattern,
    read.pattern === pattern ? null : `written as ${read.pattern}`,
  );
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

/** A regex with options becomes a rule of a list, which can be for some types and can answer otherwise. */
function mapOptions(parts: RuleParts, row: PiholeDomain, pattern: string, options: readonly string[]): void {
  const { builder, lists, groupsOf } = parts;
  const modifiers: string[] = [];
  for (const option of options) {
    const modifier = modifierOf(option.trim());
    if ('reason' in modifier) return builder.notMapped('regex_filter', row.domain, modifier.reason);
    modifiers.push(modifier.text);
  }
  const read = fromTre(pattern);
  if ('reason' in read) return builder.notMapped('regex_filter', row.domain, read.reason);
  const groups = groupsOf(row.id);
  const item = builder.item(
    'list_rule',
    row.domain,
    'a rule of a list, which ranks below managed domains and filters',
  );
  const isOn = row.enabled && groups.length > 0;
  if (!isOn) builder.remark(item, 'switched off: a comment in that list');
  const line = `${row.type === REGEX_ALLOW ? '@@' : ''}/${read.pattern}/$${modifiers.join(',')}`;
  lists.add(line, groups.length > 0 ? groups : null, item, isOn);
}

function modifierOf(option: string): { text: string } | { reason: string } {
  const name = option.split('=', 1)[0]!.toLowerCase();
  const value = option.slice(option.indexOf('=') + 1);
  if (name === 'querytype') return dnstype(value);
  if (name === 'reply') return rewrite(value.trim());
  return { reason: `Weir has no option like ${option.slice(0, 40)}` };
}

function dnstype(value: string): { text: string } | { reason: string } {
  const isExcept = value.startsWith('!');
  const types = value
    .replace(/^!/, '')
    .toUpperCase()
    .split(',')
    .map((type) => type.trim());
  const unknown = types.find((type) => !Object.hasOwn(RRType, type) && !/^TYPE\d{1,5}$/.test(type));
  if (unknown !== undefined) return { reason: `Weir does not know the type ${unknown.slice(0, 20)}` };
  return { text: `dnstype=${types.map((type) => (isExcept ? `~${type}` : type)).join('|')}` };
}

function rewrite(reply: string): { text: string } | { reason: string } {
  const code = reply.toUpperCase();
  if (code === 'NODATA') return { text: 'dnsrewrite=NOERROR;;' };
  if (code === 'NXDOMAIN' || code === 'REFUSED') return { text: `dnsrewrite=${code}` };
  if (addressFromText(reply) !== null) return { text: `dnsrewrite=${reply}` };
  return { reason: `Weir cannot give the reply ${reply.slice(0, 40)} to one rule` };
}
