/** The initial state of the threads: the newest generation on disk, or only the group Default. */
import type { BlockingSettings } from '../../change/blocking-settings.ts';
import { NodeState } from '../../../../shared/threads/messages.ts';
import type { NodeStateCode } from '../../../../shared/threads/messages.ts';
import type { FindLivePolicy } from '../../change/runtime-state.ts';
import type { PublishedState } from '../published-state.ts';
import type { Generations } from './generations.ts';
import { buildSnapshot } from '../build/snapshot-builder.ts';
import { randomBytes } from 'node:crypto';
import { DEFAULT_GROUP_ID } from '../../../../shared/api/policy/groups-api.ts';
import { emptyAttributes } from '../../compile/table/attribute-table.ts';
import { type CompiledRules } from '../../compile/table/compiled-rules.ts';
import { NOTHING_LIVE } from '../../change/runtime-state.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../change/rows.ts';
import { RuleTableBuilder } from '../../compile/table/rule-table-builder.ts';
import { buildSpecialRules } from '../../compile/table/special-rules-builder.ts';

/** Loads the newest intact generation with a new version and the current blocking settings, which may have changed. */
export async function startingState(
  generations: Generations,
  blocking: BlockingSettings,
  live: FindLivePolicy,
): Promise<PublishedState> {
  const { kept, highestVersion } = await generations.load();
  const { compiled, rows } = kept ?? emptySnapshot(blocking);
  const version = kept === undefined && highestVersion === 0 ? 0 : highestVersion + 1;
  const now = live(rows);
  const snapshot = buildSnapshot(version, compiled, rows, blocking, now);
  return { snapshot, compiled, rows, ...(kept !== undefined && { publishedAtMs: now.nowMs }) };
}

/**
 * The state that a node reports from its first answer on. `before` is the last state of the previous process: if that
 * process was ready, it used the same policy, and had already found that lists without a copy could not be fetched.
 */
export function firstNodeState(state: PublishedState, before: NodeStateCode): NodeStateCode {
  if (isFiltering(state)) return NodeState.READY;
  return before === NodeState.READY && state.publishedAtMs === undefined ? NodeState.HOLDING : before;
}

/**
 * Whether a state filters as configured: it was already active, and either has rules of lists or has no enabled list.
 */
function isFiltering({ compiled, rows, publishedAtMs }: PublishedState): boolean {
  if (publishedAtMs === undefined) return false;
  return compiled.sources.length > 0 || !rows.sources.some(({ enabled }) => enabled);
}

/** The state of version 0, created without any data. */
export function emptySnapshot(blocking: BlockingSettings): PublishedState {
  const random = randomBytes(8);
  const seeds = { low: random.readInt32LE(0), high: random.readInt32LE(4) };
  const { rules } = new RuleTableBuilder(seeds).finish();
  const compiled: CompiledRules = {
    rules,
    special: buildSpecialRules([], seeds),
    attributes: emptyAttributes(),
    sources: [],
    compiledAtMs: 0,
    compileMs: 0,
  };
  const rows: PolicyRows = { ...NO_POLICY_ROWS, groups: [{ id: DEFAULT_GROUP_ID, enabled: true }] };
  return { snapshot: buildSnapshot(0, compiled, rows, blocking, NOTHING_LIVE), compiled, rows };
}
