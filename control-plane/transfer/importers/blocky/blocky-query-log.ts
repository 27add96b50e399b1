/** Query log settings of blocky as keys of Weir's configuration. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import type { ForeignTree } from '../files/foreign-tree.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/** Maximum number of days that Weir keeps queries. */
const MAX_DAYS = 3650;
const EXCLUDED = 'database.log_excluded_domains';

/** Adds the keys. */
export function mapQueryLog(builder: PlanBuilder, file: ForeignTree): void {
  const days = file.count('queryLog.logRetentionDays') ?? 0;
  if (days > 0) builder.key('database.query_log_days', Math.min(days, MAX_DAYS), 'queryLog.logRetentionDays');
  if (file.text('queryLog.type')?.toLowerCase() === 'none')
    return builder.key('database.log_queries', false, 'queryLog.type');
  const fields = file.texts('queryLog.fields');
  if (fields !== undefined) mapFields(builder, fields);
  if (file.flag('queryLog.ignore.sudn') === true)
    builder.differs('other', 'queryLog.ignore.sudn', importReason('blocky_reserved_logged'), []);
  mapIgnored(builder, file.texts('queryLog.ignore.domains') ?? []);
}

/** Fields that are not logged; without a list, all are logged. */
function mapFields(builder: PlanBuilder, fields: readonly string[]): void {
  if (fields.length === 0) return;
  const from = `queryLog.fields ${fields.join(', ')}`;
  if (!fields.includes('clientIP')) {
    builder.key('database.query_log_privacy', 'anonymous_clients', from);
    if (fields.includes('clientName'))
      builder.differs('other', from, importReason('blocky_no_client_names'), []);
  } else if (!fields.includes('responseAnswer'))
    builder.key('database.query_log_privacy', 'no_answers', from);
  else builder.differs('other', from, importReason('blocky_log_fields'), []);
}

/** An entry is a single name, `*.name`, or a regular expression. */
function mapIgnored(builder: PlanBuilder, entries: readonly string[]): void {
  const names = entries.filter((entry) => !entry.startsWith('/'));
  const exact = names.filter((name) => !name.startsWith('*.'));
  if (names.length > 0)
    builder.key(
      EXCLUDED,
      [...new Set(names.map((name) => name.replace(/^\*\./, '')))],
      'queryLog.ignore.domains',
    );
  if (exact.length > 0)
    builder.differs('other', 'queryLog.ignore.domains', importReason('blocky_subdomains_unlogged'), exact);
  for (const entry of entries)
    if (entry.startsWith('/'))
      builder.notMapped(
        'other',
        `queryLog.ignore.domains ${entry}`,
        importReason('blocky_excluded_regex', { key: EXCLUDED }),
      );
}
