/** AdGuard Home's settings for its query log and statistics. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { canonicalDomain } from '../../../../shared/policy/domain-rule.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import { goDurationSecs } from '../plan/go-duration.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { AdguardSettings } from './adguard-settings.ts';

const DAY_SECS = 86_400;
const MAX_DAYS = 3650;

/** Adds the settings. */
export function mapAdguardLog(builder: PlanBuilder, { file, dns }: AdguardSettings): void {
  const isOn = file.flag('querylog.enabled') ?? dns.flag('querylog_enabled');
  if (isOn !== undefined) builder.key('database.log_queries', isOn, 'querylog.enabled');
  const days = daysOf(dns.text('querylog_interval') ?? file.text('querylog.interval'));
  if (days !== null) builder.key('database.query_log_days', days, 'querylog.interval');
  if (dns.flag('anonymize_client_ip') === true) {
    const remark = importReason('adguard_anonymized');
    const item = builder.item('configuration', 'dns.anonymize_client_ip', remark);
    builder.key('database.query_log_privacy', 'anonymous_clients', item);
  }
  if (isOn !== false && file.flag('querylog.file_enabled') === false)
    builder.differs('other', 'querylog.file_enabled', importReason('adguard_log_memory'), []);
  mapStatistics(builder, file);
  mapIgnored(builder, file.at('querylog'), 'querylog.ignored', 'database.log_excluded_domains');
  mapIgnored(builder, file.at('statistics'), 'statistics.ignored', 'database.stats_excluded_domains');
}

/** Names that are excluded, in the form of list rules. */
function mapIgnored(builder: PlanBuilder, section: ForeignTree, from: string, key: string): void {
  if (section.flag('ignored_enabled') === false) return;
  const names: string[] = [];
  for (const written of section.texts('ignored') ?? []) {
    const [, prefix = '', text = ''] = /^(\|\||\|?\*\.)?([\w.-]+)\^?$/.exec(written.trim()) ?? [];
    const name = canonicalDomain(text);
    const shown = `${from} ${written}`;
    if (name === null) {
      builder.notMapped('configuration', shown, importReason('excludes_subdomains'));
      continue;
    }
    names.push(name);
    if (prefix === '')
      builder.differs('configuration', shown, importReason('adguard_excludes_subdomains'), [name]);
    else if (prefix !== '||')
      builder.differs('configuration', shown, importReason('adguard_excludes_name', { name }), [name]);
  }
  if (names.length > 0) builder.key(key, [...new Set(names)], from);
}

function mapStatistics(builder: PlanBuilder, file: ForeignTree): void {
  const days = daysOf(file.text('statistics.interval'));
  if (days !== null)
    builder.key(
      'database.rollup_days',
      days,
      'statistics.interval',
      days > 1 ? null : importReason('adguard_statistics_day'),
    );
  if (file.flag('statistics.enabled') === false)
    builder.differs('other', 'statistics.enabled', importReason('adguard_statistics'), []);
}

/** Whole days of a duration, rounded up; a plain number means days, as in older schemas. Null without a duration. */
function daysOf(written: string | undefined): number | null {
  const secs = goDurationSecs(written, DAY_SECS) ?? 0;
  return secs === 0 ? null : Math.min(Math.ceil(secs / DAY_SECS), MAX_DAYS);
}
