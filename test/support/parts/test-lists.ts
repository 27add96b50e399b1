/** Snapshots compiled from lists as the compile pool does, for tests that need matches. */
import { hashSuffixes } from '../../../dns-worker/query/parse-query.ts';
import { Query } from '../../../dns-worker/query/query.ts';
import { type OpenSnapshot, openSnapshot } from '../../../dns-worker/policy/open-snapshot.ts';
import type { ListReading } from '../../../control-plane/policy/compile/parse/line-rules.ts';
import { ListParser } from '../../../control-plane/policy/compile/parse/parse-list.ts';
import { type BlockingSettings } from '../../../control-plane/policy/change/blocking-settings.ts';
import { type CompiledRules } from '../../../control-plane/policy/compile/table/compiled-rules.ts';
import {
  type GroupOverride,
  type LivePolicy,
  NOTHING_LIVE,
} from '../../../control-plane/policy/change/runtime-state.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../../control-plane/policy/change/rows.ts';
import { RuleTableBuilder } from '../../../control-plane/policy/compile/table/rule-table-builder.ts';
import { buildSnapshot } from '../../../control-plane/policy/snapshot/build/snapshot-builder.ts';
import { SpecialRuleCollector } from '../../../control-plane/policy/compile/table/special-rule-collector.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { PrefixLengths } from '../../../shared/snapshot/prefix-lengths.ts';
import type { SnapshotBuffers } from '../../../shared/snapshot/snapshot.ts';

/** A list. The id of the list is its index plus one. */
export interface ListText {
  readonly text: string | Uint8Array;
  readonly reading: ListReading;
  readonly groupIds?: readonly number[];
}

/** Rows other than the sources. */
export type OtherRows = Partial<Omit<PolicyRows, 'sources'>>;

/** Compiles lists. */
export function compileLists(lists: readonly ListText[], seed = 1): CompiledRules {
  const builder = new RuleTableBuilder({ low: seed, high: ~seed });
  const collector = new SpecialRuleCollector();
  const adblockSources = new Set<number>();
  const sources = lists.map(({ text, reading }, index) => {
    builder.beginSource(index);
    collector.beginSource(index);
    const parser = new ListParser(
      reading,
      (bytes, start, end, kind) => builder.addName(bytes, start, end, kind),
      collector,
    );
    parser.push(typeof text === 'string' ? Buffer.from(text) : text);
    const statistics = parser.end();
    if (statistics.hasAdblockRules) adblockSources.add(index);
    return { id: index + 1, inputKey: `${index + 1}`, statistics };
  });
  const addressRules = sources.reduce((sum, { statistics }) => sum + statistics.addressRules, 0);
  const prefixes = new PrefixLengths();
  for (const { statistics } of sources) prefixes.addAll(statistics.prefixLengths);
  const special = collector.finish(builder, adblockSources);
  const { rules, attributes } = builder.finish(seed, addressRules, prefixes);
  return { rules, special, attributes, sources, compiledAtMs: 1, compileMs: 1 };
}

const BLOCKING: BlockingSettings = {
  enabled: true,
  mode: 'null_ip',
  ttlSecs: 10,
  customIpv4: '',
  customIpv6: '',
};

/** The buffers of a snapshot of these lists and rows. */
export function snapshotOf(
  lists: readonly ListText[],
  rows: OtherRows = {},
  version = 1,
  live: Partial<LivePolicy> = {},
): SnapshotBuffers {
  const sources = lists.map(({ groupIds, reading }, index) => ({
    id: index + 1,
    name: `list ${index + 1}`,
    kind: reading.kind,
    enabled: true,
    groupIds: groupIds ?? [],
  }));
  return buildSnapshot(version, compileLists(lists), { ...NO_POLICY_ROWS, ...rows, sources }, BLOCKING, {
    ...NOTHING_LIVE,
    ...live,
  });
}

/** An opened snapshot of these lists. */
export function openLists(lists: readonly ListText[], rows: OtherRows = {}, version = 1): OpenSnapshot {
  return openSnapshot(snapshotOf(lists, rows, version));
}

/** A snapshot without rules in which group Default has this override. */
export function openOverridden(
  group: Partial<GroupOverride>,
  blocking: Partial<BlockingSettings> = {},
): OpenSnapshot {
  const override = { override: null, nextFlipAtSecs: 0, ...group };
  const live = { ...NOTHING_LIVE, overrides: new Map([[1, override]]) };
  return openSnapshot(buildSnapshot(1, compileLists([]), NO_POLICY_ROWS, { ...BLOCKING, ...blocking }, live));
}

/** A parsed query for a name. */
export function queryFor(name: string, { rules }: OpenSnapshot, qtype = 1): Query {
  const query = new Query();
  const wire = nameFromText(name);
  if (wire === null) throw new Error(`make query: not a name: ${name}`);
  query.qname.set(wire);
  query.qnameLength = wire.length;
  query.qtype = qtype;
  query.labelCount = 0;
  for (let at = 0; wire[at] !== 0; at += wire[at]! + 1) query.labelAt[query.labelCount++] = at;
  hashSuffixes(query, rules.seedLow, rules.seedHigh);
  return query;
}
