// A measured figure of the dashboard with its budget.
import { quantile } from '../report/quantile.ts';
import { alignColumns } from '../report/table.ts';

/** A line of the table. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  /** Value in each round. */
  readonly values: readonly number[];
  /** The budget; undefined = none. */
  readonly budget?: number;
}

/** The table: median and worst value over the rounds. */
export function figuresTable(figures: readonly Figure[]): string {
  const lines = figures.map(({ what, unit, values, budget }) => {
    const median = quantile(values, 0.5);
    const verdict = budget === undefined ? '' : median <= budget ? 'kept' : 'MISSED';
    return [
      what,
      unit,
      budget === undefined ? '' : String(budget),
      shown(median),
      shown(Math.max(...values)),
      verdict,
    ];
  });
  return alignColumns([['', 'unit', 'budget', 'median', 'worst', ''], ...lines]);
}

function shown(value: number): string {
  return Math.abs(value) >= 10 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(3);
}
