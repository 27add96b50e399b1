/** Answers that differ between AdGuard Home and Weir, by the settings that cause them. Pure. */
import { itemName } from '../../../../shared/policy/reasons/item-names.ts';
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { placeOf } from '../plan/client-place.ts';
import { isSinkLine, isSystemName, readHostsLine } from '../plan/hosts-lines.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { AdguardSettings } from './adguard-settings.ts';
import { covers } from './rewrites.ts';

const LOOPBACK = new Set(['127.0.0.1', '::1']);
const OF_LOCALHOST = /(?:^|[\s|./])localhost(?:[\s^|$]|$)/i;
const REWRITE = /^([^$]*)\$(?:.*,)?dnsrewrite=([^,]*)/;

/** Adds one row for each difference. */
export function reportAnswers(builder: PlanBuilder, settings: AdguardSettings): void {
  const mode = settings.filtering.text('blocking_mode') ?? 'default';
  const rules = settings.rules.map((rule) => rule.trim()).filter((rule) => !/^(?:[!#]|@@)/.test(rule));
  reportHostsLines(builder, rules, mode);
  if (rules.some((rule) => OF_LOCALHOST.test(rule)))
    builder.differs('list_rule', 'rules for localhost', importReason('adguard_localhost'), ['localhost']);
  reportRewriteRules(builder, rules);
  reportAliases(builder, settings);
  reportServices(builder, settings, mode);
}

/** Lines of a hosts file are blocking rules in AdGuard Home, and only the mode `default` answers with their address. */
function reportHostsLines(builder: PlanBuilder, rules: readonly string[], mode: string): void {
  const loopback = new Set<string>();
  const addressed = new Map<string, Set<string>>();
  for (const rule of rules) {
    const { address = '', names = [] } = readHostsLine(rule) ?? {};
    for (const name of names.filter((one) => !isSystemName(one)))
      if (LOOPBACK.has(address)) loopback.add(name);
      else if (!isSinkLine(rule))
        addressed.set(name, (addressed.get(name) ?? new Set()).add(address.includes(':') ? 'AAAA' : 'A'));
  }
  if (loopback.size > 0 && mode === 'default')
    builder.differs('list_rule', 'hosts lines with 127.0.0.1 or ::1', importReason('adguard_loopback'), [
      ...loopback,
    ]);
  const isDefault = mode === 'default';
  const names = [...addressed].flatMap(([name, types]) => (isDefault && types.size > 1 ? [] : [name]));
  if (names.length > 0)
    builder.differs(
      'local_record',
      'names of hosts lines',
      isDefault ? importReason('adguard_hosts_type') : importReason('adguard_hosts_mode', { mode }),
      names,
    );
}

/** Reports rules for one name that contradict each other. */
function reportRewriteRules(builder: PlanBuilder, rules: readonly string[]): void {
  const byPlace = new Map<string, string[]>();
  for (const rule of rules) {
    const [, place, value] = REWRITE.exec(rule) ?? [];
    if (place !== undefined && value !== undefined)
      byPlace.set(place, [...(byPlace.get(place) ?? []), value]);
  }
  const names = [...byPlace].flatMap(([place, values]) =>
    new Set(values).size > 1 && !values.every(isRecord) ? [place.replaceAll(/^\|+|[\^|]+$/g, '')] : [],
  );
  if (names.length > 0)
    builder.differs(
      'list_rule',
      'several $dnsrewrite for one name',
      importReason('adguard_several_rewrites'),
      names,
    );
}

/** Whether a value is a record; both programs merge the records of a name. */
function isRecord(value: string): boolean {
  return placeOf(value)?.kind === 'ip' || /^NOERROR;(?!CNAME;|;)/i.test(value);
}

/**
 * Reports aliases whose target is another rewrite: in AdGuard Home, rewrites only answer with addresses, and queries
 * for other types are forwarded under the name of the target.
 */
function reportAliases(builder: PlanBuilder, { rewrites }: AdguardSettings): void {
  const used = rewrites.filter(({ enabled }) => enabled);
  const addressed = used.filter(({ answer }) => placeOf(answer)?.kind === 'ip');
  const names = used
    .filter(({ answer }) => addressed.some(({ domain }) => covers(domain, answer)))
    .map(({ domain }) => domain.replace(/^\*\./, ''));
  if (names.length > 0)
    builder.differs('local_record', itemName('rewrite_aliases'), importReason('adguard_alias_types'), names);
}

function reportServices(builder: PlanBuilder, { everyone, clients }: AdguardSettings, mode: string): void {
  const isAny = [everyone, ...clients.map(({ policy }) => policy)].some(
    ({ services }) => services.length > 0,
  );
  if (isAny && mode !== 'nxdomain')
    builder.differs('service', itemName('service_answers'), importReason('adguard_service_answers'), []);
}
