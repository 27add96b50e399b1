/** Counts of the active compiled filter, for `{api}/block-filter/stats`. */
import type { BlockFilterStats } from '../../../../shared/api/stats-api.ts';
import { RuleKind, INHERITED_KINDS } from '../../../../shared/snapshot/rule-table.ts';
import { attributeCount, forEachPairLeft } from '../../compile/table/attribute-table.ts';
import type { PublishedState } from '../published-state.ts';
import { ActiveSources } from '../build/active-sources.ts';

const BLOCK_KINDS =
  RuleKind.BLOCK_EXACT | RuleKind.BLOCK_SUFFIX | RuleKind.BLOCK_BELOW | RuleKind.IMPORTANT_BLOCK_SUFFIX;
const ALLOW_KINDS =
  RuleKind.ALLOW_EXACT | RuleKind.ALLOW_SUFFIX | RuleKind.ALLOW_BELOW | RuleKind.IMPORTANT_ALLOW_SUFFIX;

/**
 * Counts the distinct names in all sources that are enabled for at least one group, and the names of blocked services.
 */
export function filterStats({ snapshot, compiled, rows }: PublishedState): BlockFilterStats {
  const sources = new ActiveSources(compiled, rows);
  const disables = (by: number, source: number): boolean => sources.disablesForAll(by, source);
  let blocked = 0;
  let allowed = 0;
  let wildcards = 0;
  for (let attribute = 0; attribute < attributeCount(compiled.attributes); attribute++) {
    let kinds = 0;
    forEachPairLeft(compiled.attributes, attribute, disables, (source, bits) => {
      if (sources.nameOf(source) !== null) kinds |= bits;
    });
    const names = compiled.attributes.nameCounts[attribute]!;
    if ((kinds & BLOCK_KINDS) !== 0) blocked += names;
    if ((kinds & ALLOW_KINDS) !== 0) allowed += names;
    if ((kinds & INHERITED_KINDS) !== 0) wildcards += names;
  }
  const services = serviceNames(rows);
  const isCompiled = compiled.compiledAtMs > 0;
  return {
    blocked_domains: blocked + services.suffixes.size + services.exact.size,
    allowed_domains: allowed,
    wildcard_rules: wildcards + services.suffixes.size,
    regex_rules: rows.regexFilters.length + listRegexes(compiled, sources),
    filter_bytes:
      snapshot.rules.byteLength +
      snapshot.special.byteLength +
      snapshot.manual.byteLength +
      snapshot.manualSpecial.byteLength +
      snapshot.policy.byteLength +
      snapshot.clients.byteLength,
    snapshot_id: snapshot.version,
    compiled_at: isCompiled ? new Date(compiled.compiledAtMs).toISOString() : null,
    compile_ms: isCompiled ? compiled.compileMs : null,
  };
}

/**
 * Number of names and expressions that lists, services and manual rules block for at least one group; if 0, no query
 * can be blocked because of its name.
 */
export function countBlocked(state: PublishedState): number {
  const { managedDomains, regexFilters } = state.rows;
  const own = [...managedDomains, ...regexFilters].filter(({ action }) => action === 'deny');
  const ofLists = listRegexes(state.compiled, new ActiveSources(state.compiled, state.rows));
  return filterStats(state).blocked_domains + ofLists + own.length;
}

/** Names of services that are blocked for at least one group, either always or at certain times. */
function serviceNames({
  blockedServices,
}: PublishedState['rows']): Record<'suffixes' | 'exact', Set<string>> {
  const suffixes = new Set(blockedServices.flatMap(({ domains }) => domains));
  const exact = new Set(blockedServices.flatMap((service) => service.exact));
  return { suffixes, exact: exact.difference(suffixes) };
}

/** Number of patterns and expressions in active lists. */
function listRegexes({ sources }: PublishedState['compiled'], active: ActiveSources): number {
  return sources.reduce(
    (sum, { statistics }, index) => sum + (active.nameOf(index) === null ? 0 : statistics.textRules),
    0,
  );
}
