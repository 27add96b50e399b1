/** AdGuard Home's rewrites as local records. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { placeOf } from '../plan/client-place.ts';
import { addAddress, isSinkLine, readHostsLine } from '../plan/hosts-lines.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import type { AdguardRewrite, AdguardSettings } from './adguard-settings.ts';

/**
 * Adds the rewrites. `groups` are the filtered groups (null = every group): AdGuard Home applies rewrites only to
 * filtered clients.
 */
export function mapRewrites(
  builder: PlanBuilder,
  { rewrites, rules, clients }: AdguardSettings,
  groups: readonly string[] | null,
): void {
  const used = rewrites.filter(({ enabled }) => enabled);
  for (const rewrite of rewrites)
    if (!rewrite.enabled) builder.skipped('local_record', shownOf(rewrite), importReason('file_disabled'));
    else if (groups?.length === 0)
      builder.skipped('local_record', shownOf(rewrite), importReason('adguard_no_filtering'));
    else mapRewrite(builder, rewrite, used);
  const names = [...used.map(({ domain }) => domain.replace(/^\*\./, '')), ...hostsNames(rules)];
  if (groups === null || groups.length === 0 || names.length === 0) return;
  const unfiltered = clients.filter(({ policy }) => !policy.isFiltered).map(({ name }) => name);
  builder.differs(
    'local_record',
    `local records for ${unfiltered.length === 0 ? 'clients without settings' : unfiltered.join(', ')}`,
    importReason('adguard_unfiltered_clients'),
    names,
  );
}

/** Names of user rules that are lines of a hosts file with a real address. */
function hostsNames(rules: readonly string[]): string[] {
  return rules.flatMap((rule) => (isSinkLine(rule) ? [] : (readHostsLine(rule)?.names ?? [])));
}

/** `*.x` is every name below x and not x itself, in both programs. */
function mapRewrite(builder: PlanBuilder, rewrite: AdguardRewrite, used: readonly AdguardRewrite[]): void {
  const { domain, answer } = rewrite;
  if (isException(rewrite)) return mapException(builder, rewrite, used);
  if (placeOf(answer)?.kind === 'ip') return addAddress(builder, domain, answer);
  builder.record(
    { name: domain, type: 'CNAME', value: answer },
    builder.item('local_record', shownOf(rewrite)),
  );
}

/** Whether the name is forwarded upstream: for one type or for all. */
function isException({ domain, answer }: AdguardRewrite): boolean {
  return /^(?:A|AAAA)$/.test(answer) || answer.toLowerCase() === domain.toLowerCase();
}

/** An exception matters only if another rewrite answers its name. */
function mapException(builder: PlanBuilder, rewrite: AdguardRewrite, used: readonly AdguardRewrite[]): void {
  const other = used.find((one) => !isException(one) && covers(one.domain, rewrite.domain));
  if (other === undefined)
    return builder.skipped('local_record', shownOf(rewrite), importReason('adguard_forwarded_anyway'));
  builder.differs(
    'local_record',
    shownOf(rewrite),
    importReason('adguard_record_answers', { domain: other.domain }),
    [rewrite.domain],
  );
}

/** Whether a rewrite of `pattern` answers the name. */
export function covers(pattern: string, name: string): boolean {
  if (!pattern.startsWith('*.')) return pattern.toLowerCase() === name.toLowerCase();
  return name.toLowerCase().endsWith(pattern.slice(1).toLowerCase());
}

function shownOf({ domain, answer }: AdguardRewrite): string {
  return `${domain} ${answer}`;
}
