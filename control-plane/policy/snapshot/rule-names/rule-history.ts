/**
 * Keeps the meaning of rule numbers for recent snapshot versions, so that the version and rule number in a log record
 * can be converted to the list or manual rule, and to the text of the rule.
 */
import { nameToText } from '../../../../shared/dns/name.ts';
import { RuleOrigin } from '../../../../shared/snapshot/rule-origin.ts';
import { ManualKind } from '../../../../shared/snapshot/rule-table.ts';
import type { SnapshotBuffers } from '../../../../shared/snapshot/snapshot.ts';
import { readSpecialRule } from '../../../../shared/snapshot/special-rules.ts';
import type { ContainingRule } from '../../../../shared/threads/explanation.ts';
import { forEachPairLeft } from '../../compile/table/attribute-table.ts';
import type { RuleDescription } from './rule-description.ts';
import type { DecidingRuleNumbers, LoggedRule } from '../../../query-log/rows/row.ts';
import { containingLists, type ContainingList } from './containing-lists.ts';
import { describeLocalSet } from './local-description.ts';
import { ruleAffixes, ruleText } from './rule-text.ts';
import type { CompiledRules } from '../../compile/table/compiled-rules.ts';
import { differingRows } from '../../change/row-differences.ts';
import type { PolicyRows } from '../../change/rows.ts';
import { servicesAt } from '../../change/times.ts';
import type { PublishedState } from '../published-state.ts';
import { effectiveGroupId, sourcesServing } from '../build/policy-table-builder.ts';

/** Number of versions kept; sufficient, because records reach the log within a second. */
export const REMEMBERED_VERSIONS = 64;

/** A rule in an explanation. */
export interface DecidingRule extends DecidingRuleNumbers {
  /** Name of the rule in wire form; empty for patterns. */
  readonly name: Uint8Array;
}

/** Rows of manual rules. Clients are omitted, because there may be tens of thousands. */
export type ManualRows = Pick<
  PolicyRows,
  'groups' | 'sources' | 'managedDomains' | 'regexFilters' | 'blockedServices' | 'schedules' | 'grants'
>;

/** Data for interpreting the rule numbers of a version. */
export interface NumberedRules extends Pick<PublishedState, 'publishedAtMs'> {
  /** The snapshot; local names are described only if it has `local`. */
  readonly snapshot: Pick<SnapshotBuffers, 'version'> & Partial<Pick<SnapshotBuffers, 'local'>>;
  readonly compiled: Pick<CompiledRules, 'attributes' | 'sources' | 'special'>;
  readonly rows: ManualRows;
}

interface Meaning {
  readonly compiled: Pick<CompiledRules, 'attributes' | 'sources' | 'special'>;
  readonly rows: ManualRows;
  /** Cache of rules that were already logged, by `loggedKey`. */
  readonly logged: Map<number | string, LoggedRule | undefined>;
  /** Cache of schedules that were already logged, by group. */
  readonly loggedSchedules: Map<number, LoggedRule | undefined>;
}

type ManagedDomains = ManualRows['managedDomains'];
type ByDomain = ReadonlyMap<string, ManagedDomains>;

/** Index of the managed domains of a version by name: the index of an earlier version, and the changes since then. */
interface ManagedIndex {
  readonly rows: ManagedDomains;
  readonly earlier: { readonly rows: ManagedDomains; readonly byDomain: ByDomain };
  readonly gone: ReadonlySet<ManagedDomains[number]>;
  readonly fresh: ByDomain;
}

/** Number of indexes that are kept: while a change is being applied, records of two versions arrive in turn. */
const MANAGED_INDEXES = 2;
/** Number of changed rows above which all rows are indexed again. */
const MAX_CHANGED = 1000;
/** Maximum number of rules per version cached for the log. */
const MAX_LOGGED = 20_000;

/** Converts the rule numbers of recent versions to rules. */
export class RuleHistory {
  private readonly versions = new Map<number, Meaning>();
  /** Local names of the newest version only: there may be many, and only explanations use them. */
  private local: { version: number; names: SharedArrayBuffer } | undefined;
  /** Indexes of a few versions, most recently used first. */
  private managed: readonly ManagedIndex[] = [];

  /** Adds a version and removes the oldest. */
  add({ snapshot, compiled, rows, publishedAtMs }: NumberedRules): void {
    // The rule table itself is not kept, because a replaced table must not stay in memory.
    const { attributes, sources, special } = compiled;
    const { groups, managedDomains, regexFilters, schedules, grants } = rows;
    // Services outside their schedule have no rule in the snapshot.
    const blockedServices =
      publishedAtMs === undefined ? rows.blockedServices : servicesAt(rows.blockedServices, publishedAtMs);
    const { version, local: names } = snapshot;
    if (names !== undefined) this.local = { version, names };
    this.versions.set(version, {
      compiled: { attributes, sources, special },
      rows: {
        groups,
        sources: rows.sources,
        managedDomains,
        regexFilters,
        blockedServices,
        schedules,
        grants,
      },
      logged: new Map(),
      loggedSchedules: new Map(),
    });
    for (const oldest of this.versions.keys()) {
      if (this.versions.size <= REMEMBERED_VERSIONS) break;
      this.versions.delete(oldest);
    }
  }

  /** Describes a rule; undefined for removed versions, and if all lists with the rule are inactive. */
  describe(version: number, rule: DecidingRule): RuleDescription | undefined {
    const known = this.versions.get(version);
    if (known === undefined) return undefined;
    switch (rule.origin) {
      case RuleOrigin.LIST:
        return describeListed(known, rule);
      case RuleOrigin.SPECIAL:
        return describeSpecial(known, rule);
      case RuleOrigin.REGEX: {
        const row = known.rows.regexFilters[rule.index];
        return row && manual(row.name, row.pattern, row.id);
      }
      case RuleOrigin.MANAGED:
        return describeManaged(known.rows.groups, this.managedAt(known.rows.managedDomains, rule.name), rule);
      case RuleOrigin.GRANT:
        return describeGrant(known.rows.grants, rule.index);
      case RuleOrigin.LOCAL:
        return this.local?.version === version ? describeLocalSet(this.local.names, rule.index) : undefined;
      default:
        return describeService(known, rule);
    }
  }

  /** The lists of rules that match a name, see `containingLists()`; empty for removed versions. */
  listsContaining(version: number, rules: readonly ContainingRule[], groupId: number): ContainingList[] {
    const known = this.versions.get(version);
    return known === undefined ? [] : containingLists(known, rules, groupId);
  }

  /**
   * The rule as it is logged. It is computed once, either for all names or, if it depends on the name, once for each
   * name.
   */
  logged(version: number, rule: DecidingRuleNumbers, name: () => Uint8Array): LoggedRule | undefined {
    const memory = this.versions.get(version)?.logged;
    if (memory === undefined) return undefined;
    const key = loggedKey(rule, name);
    const known = memory.get(key);
    if (known !== undefined || memory.has(key)) return known;
    const logged = toLogged(rule, this.describe(version, { ...rule, name: name() }));
    if (memory.size < MAX_LOGGED) memory.set(key, logged);
    return logged;
  }

  /** Describes the schedule that blocks a group. */
  describeSchedule(version: number, groupId: number): RuleDescription | undefined {
    const known = this.versions.get(version);
    return known && describeSchedule(known, groupId);
  }

  /** The schedule as it is logged; computed once per group. */
  loggedSchedule(version: number, groupId: number): LoggedRule | undefined {
    const known = this.versions.get(version);
    if (known === undefined) return undefined;
    const { loggedSchedules: memory } = known;
    if (!memory.has(groupId)) memory.set(groupId, toLoggedRule(describeSchedule(known, groupId)));
    return memory.get(groupId);
  }

  /** The managed domains for a name, found with an index, because there may be very many. */
  private managedAt(rows: ManualRows['managedDomains'], name: Uint8Array): ManualRows['managedDomains'] {
    let index = this.managed.find((one) => one.rows === rows);
    index ??= indexAfter(this.managed[0]?.earlier, rows);
    if (index !== this.managed[0])
      this.managed = [index, ...this.managed.filter((one) => one !== index)].slice(0, MANAGED_INDEXES);
    const { earlier, gone, fresh } = index;
    const domain = nameToText(name);
    const kept = (earlier.byDomain.get(domain) ?? []).filter((row) => !gone.has(row));
    return [...kept, ...(fresh.get(domain) ?? [])];
  }
}

/** Indexes only the changes since an earlier version if there are few changes, or else all rows. */
function indexAfter(earlier: ManagedIndex['earlier'] | undefined, rows: ManagedDomains): ManagedIndex {
  const changes = earlier && differingRows(earlier.rows, rows);
  if (
    earlier === undefined ||
    changes === undefined ||
    changes.gone.length + changes.fresh.length > MAX_CHANGED
  )
    return { rows, earlier: { rows, byDomain: byDomainOf(rows) }, gone: new Set(), fresh: new Map() };
  return { rows, earlier, gone: new Set(changes.gone), fresh: byDomainOf(changes.fresh) };
}

function byDomainOf(rows: ManagedDomains): ByDomain {
  return Map.groupBy(rows, ({ domain }) => domain);
}

function describeSpecial({ compiled, rows }: Meaning, { index }: DecidingRule): RuleDescription | undefined {
  const rule = readSpecialRule(compiled.special, index);
  const id = rule && compiled.sources[rule.source]?.id;
  const row = rows.sources.find((source) => source.id === id);
  if (rule === undefined || row === undefined) return undefined;
  return { source: row.name, sources: [row.name], sourceIds: [row.id], rule: rule.rule, line: rule.line };
}

/**
 * Describes a rule of lists: finds the lists whose rules in the attribute have these `kinds` and that are active for
 * the group.
 */
function describeListed({ compiled, rows }: Meaning, rule: DecidingRule): RuleDescription | undefined {
  const group = rows.groups.find(({ id }) => id === rule.groupId);
  const serves = sourcesServing(group, compiled, rows);
  const found: { name: string; id: number }[] = [];
  const counts = (by: number): boolean => serves[by] === true;
  forEachPairLeft(compiled.attributes, rule.index, counts, (index, bits) => {
    if ((bits & rule.kinds) === 0 || serves[index] !== true) return;
    const id = compiled.sources[index]?.id;
    const row = rows.sources.find((source) => source.id === id);
    if (row !== undefined) found.push(row);
  });
  if (found[0] === undefined) return undefined;
  return {
    source: found[0].name,
    sources: found.map(({ name }) => name),
    sourceIds: found.map(({ id }) => id),
    rule: ruleText(rule.kinds, nameToText(rule.name)),
    line: null,
  };
}

/** Describes a managed domain: finds the one that determined the answer. */
function describeManaged(
  groups: ManualRows['groups'],
  atName: ManualRows['managedDomains'],
  rule: DecidingRule,
): RuleDescription | undefined {
  const groupId = effectiveGroupId(groups.find(({ id }) => id === rule.groupId));
  const allows = (rule.kinds & (ManualKind.ALLOW_EXACT | ManualKind.ALLOW_SUFFIX)) !== 0;
  const suffixOnly = (rule.kinds & (ManualKind.ALLOW_EXACT | ManualKind.DENY_EXACT)) === 0;
  const row = atName.find(
    (managed) =>
      managed.action === (allows ? 'allow' : 'deny') &&
      (managed.groupId === null || managed.groupId === groupId) &&
      (!suffixOnly || managed.suffix),
  );
  return row && manual(row.name, row.suffix ? `*.${row.domain}` : row.domain, row.id);
}

function describeService({ rows }: Meaning, rule: DecidingRule): RuleDescription | undefined {
  const name = nameToText(rule.name);
  const groupId = effectiveGroupId(rows.groups.find(({ id }) => id === rule.groupId));
  const row = rows.blockedServices.find(
    (service) =>
      service.groupId === groupId && (service.domains.includes(name) || service.exact.includes(name)),
  );
  return row && manual(row.serviceName, name, row.serviceId);
}

/** A group has at most one schedule profile, which therefore causes all its blocks by schedule. */
function describeSchedule({ rows }: Meaning, groupId: number): RuleDescription | undefined {
  const id = effectiveGroupId(rows.groups.find((group) => group.id === groupId));
  const profile = rows.schedules.find((schedule) => schedule.groupId === id)?.profile;
  if (profile === undefined) return undefined;
  return { source: profile, sources: [profile], sourceIds: [], rule: 'block_all', line: null };
}

function describeGrant(grants: ManualRows['grants'], grantId: number): RuleDescription | undefined {
  const grant = grants.find(({ id }) => id === grantId);
  if (grant === undefined) return undefined;
  const { action, domain, subdomains, serviceId, service, untilMs } = grant;
  const names = `${domain === null || subdomains ? '' : 'only '}${domain ?? '*'}`;
  const name = serviceId === undefined ? names : `service ${service?.serviceName ?? serviceId}`;
  const until = untilMs === null ? '' : ` until ${new Date(untilMs).toISOString()}`;
  return manual(`grant ${grantId}`, `${action} ${name}${until}`, grantId);
}

function manual(source: string, rule: string, id: number | string): RuleDescription {
  return { source, sources: [source], sourceIds: [id], rule, line: null };
}

function toLogged(
  { origin, kinds }: DecidingRuleNumbers,
  found: RuleDescription | undefined,
): LoggedRule | undefined {
  if (found === undefined || (origin !== RuleOrigin.LIST && origin !== RuleOrigin.SPECIAL))
    return toLoggedRule(found);
  const lists = found.sourceIds.map(Number);
  if (origin === RuleOrigin.SPECIAL) return toLoggedRule(found, lists);
  const [before, after] = ruleAffixes(kinds);
  return { source: found.source, before, after, atName: true, lists };
}

function toLoggedRule(
  found: RuleDescription | undefined,
  lists: readonly number[] = [],
): LoggedRule | undefined {
  return found && { source: found.source, before: found.rule, after: '', atName: false, lists };
}

/**
 * Key of rules that have the same text in the log. If the name does not matter, the key is a number, which is exact
 * (below 2^53) because an attribute has at most 25 bits, its kinds 8 and an origin 3, and because there are few groups.
 */
function loggedKey(
  { origin, index, kinds, groupId }: DecidingRuleNumbers,
  name: () => Uint8Array,
): number | string {
  const key = ((groupId * 8 + origin) * 256 + kinds) * 0x200_0000 + index;
  const isOfName = origin === RuleOrigin.MANAGED || origin === RuleOrigin.SERVICE;
  return isOfName ? `${key} ${Buffer.from(name()).toString('latin1')}` : key;
}
