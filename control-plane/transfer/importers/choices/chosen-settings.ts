/** Decides which offered settings an import sets: those the user chose, or those that can safely be set. */
import { needsRestart } from '../../../../config/layers.ts';
import {
  type ImportReason,
  importReason,
  joinReasons,
} from '../../../../shared/policy/reasons/import-reasons.ts';
import type { Values } from '../../../../config/layers.ts';
import type { ImportSetting, SettingSelection } from '../../../../shared/api/imports-api.ts';
import type { FieldProblem } from '../../../../shared/api/problem-details.ts';
import { hiddenValue } from '../../backup/configuration-items.ts';
import type { OfferedSetting } from './offered-settings.ts';
import { serversOf, valuesOfRows } from './offered-settings.ts';

/** Checks a change of the configuration. */
export type FaultsOfChange = (values: Values) => readonly FieldProblem[];
/** Reason why each upstream server cannot be used; null = it has answered. */
export type UpstreamTests = ReadonlyMap<string, string | null>;

/** One setting, and whether it is set. */
export interface ChosenSetting extends OfferedSetting {
  readonly isSelected: boolean;
  readonly canSelect: boolean;
  readonly reason: ImportReason | null;
}

/** Data on which the choice depends. */
interface Choosing {
  readonly selection: SettingSelection;
  readonly faultsOf: FaultsOfChange;
  /** Null = not tested. */
  readonly tests: UpstreamTests | null;
}

/**
 * The rows, and whether each is set. A row that cannot be set, alone or together with others, does not prevent the
 * remaining rows from being set.
 */
export function chooseSettings(
  offered: readonly OfferedSetting[],
  { selection, faultsOf, tests }: Choosing,
): ChosenSetting[] {
  const settable = compatible(offered, faultsOf);
  const wanted = offered.filter((row) => {
    if (settable.faults.has(row.id)) return false;
    return selection === 'default' ? isTicked(row, tests) : selection.has(row.id);
  });
  const chosen = compatible(wanted, faultsOf);
  return offered.map((row) => {
    const fault = settable.faults.get(row.id);
    const conflict = chosen.faults.get(row.id);
    const reasons = [
      fault === undefined ? null : importReason('cannot_be_set', { reason: fault }),
      conflict === undefined ? null : importReason('conflicting', { reason: conflict }),
      row.doubt,
      testReason(row, tests),
      needsRestart(row.key) ? importReason('next_start') : null,
    ].filter((reason) => reason !== null);
    return {
      ...row,
      isSelected: chosen.rows.includes(row),
      canSelect: fault === undefined,
      reason: reasons.length === 0 ? null : joinReasons(...reasons),
    };
  });
}

/** The setting in the report, without secrets. */
export function toImportSetting({
  id,
  key,
  value,
  isSelected,
  canSelect,
  reason,
}: ChosenSetting): ImportSetting {
  return { key: id, value: hiddenValue(key, value), selected: isSelected, can_select: canSelect, reason };
}

/** As many rows as can be set together, with earlier rows preferred, and the error of each remaining row. */
function compatible(
  rows: readonly OfferedSetting[],
  faultsOf: FaultsOfChange,
): { readonly rows: readonly OfferedSetting[]; readonly faults: ReadonlyMap<string, string> } {
  if (rows.length === 0 || faultsOf(valuesOfRows(rows)).length === 0) return { rows, faults: new Map() };
  const faults = new Map<string, string>();
  let taken: OfferedSetting[] = [];
  let rest = [...rows];
  // A row may depend on a later row.
  for (let before = -1; before !== taken.length;) {
    before = taken.length;
    const left: OfferedSetting[] = [];
    for (const row of rest) {
      const problems = faultsOf(valuesOfRows([...taken, row]));
      if (problems.length === 0) taken = [...taken, row];
      else left.push(row);
      if (problems.length > 0) faults.set(row.id, problems.map(textOf).join('; '));
      else faults.delete(row.id);
    }
    rest = left;
  }
  return { rows: rows.filter((row) => taken.includes(row)), faults };
}

function textOf({ path, message }: FieldProblem): string {
  return `${path}: ${message}`;
}

/** Whether a row is set by default: upstreams only if at least one server has answered. */
function isTicked(row: OfferedSetting, tests: UpstreamTests | null): boolean {
  if (row.doubt !== null) return false;
  const servers = serversOf(row);
  return servers === null || servers.some((server) => tests?.get(server) === null);
}

function testReason(row: OfferedSetting, tests: UpstreamTests | null): ImportReason | null {
  const servers = serversOf(row);
  if (servers === null || tests === null) return null;
  const failed = servers.flatMap((server) => {
    const fault = tests.get(server) ?? (tests.has(server) ? null : 'not tested');
    return fault === null ? [] : [`${String(hiddenValue('dns.pools', server))}: ${fault}`];
  });
  if (failed.length === 0) return null;
  const code = failed.length === servers.length ? 'no_server_answers' : 'test_fails';
  return importReason(code, { faults: failed.join(', ') });
}
