// For suites that consist of rows: selects rows, runs them one after another, and prints their results.
import type { Bench } from '../bench.ts';
import type { Material } from '../material/material.ts';
import type { Goal } from '../report/goal.ts';
import { goalTable } from '../report/goal.ts';

/** Result of a row. */
export interface RowResult {
  /** The table in printed form. */
  table: string;
  goals: Goal[];
  /** All measured values, for `latest.json`. */
  figures: unknown;
}

/** A row of a suite. */
export interface SuiteRow {
  name: string;
  about: string;
  run: (bench: Bench, material: Material) => Promise<RowResult>;
}

/** Throws if `--row` names an unknown row. */
export function checkRows(wanted: readonly string[], rows: readonly SuiteRow[]): void {
  const unknown = wanted.filter((name) => !rows.some((row) => row.name === name));
  if (unknown.length > 0)
    throw new Error(
      `read --row: no row ${unknown.join(', ')}; there are ${rows.map(({ name }) => name).join(', ')}`,
    );
}

/** Runs the selected rows, and prints each. */
export async function runRows(
  rows: readonly SuiteRow[],
  bench: Bench,
  material: Material,
): Promise<(RowResult & { name: string })[]> {
  const wanted = bench.options.rows;
  const results: (RowResult & { name: string })[] = [];
  for (const { name, about, run } of rows.filter((row) => wanted.length === 0 || wanted.includes(row.name))) {
    console.log(`\n${name}: ${about}`);
    const result = { name, ...(await run(bench, material)) };
    const goals = result.goals.length > 0 ? `\n\n${goalTable(result.goals)}` : '';
    console.log(`\n${result.table}${goals}`);
    results.push(result);
  }
  return results;
}
