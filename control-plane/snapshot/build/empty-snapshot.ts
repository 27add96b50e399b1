/** The snapshot of a node that has never compiled a list: no rules, and the group Default. */
import { randomBytes } from 'node:crypto';
import { DEFAULT_GROUP_ID } from '../../../shared/api/policy/groups-api.ts';
import { emptyAttributes } from '../../compile/table/attribute-table.ts';
import { type BlockingSettings } from '../../policy/blocking-settings.ts';
import { type CompiledRules } from '../../compile/table/compiled-rules.ts';
import { NOTHING_LIVE } from '../../policy/live.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../policy/rows.ts';
import { type PublishedState } from '../published-state.ts';
import { buildSnapshot } from './snapshot-builder.ts';
import { RuleTableBuilder } from '../../compile/table/rule-table-builder.ts';
import { buildSpecialRules } from '../../compile/table/special-rules-builder.ts';

/** Version 0, at once and from nothing. */
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
