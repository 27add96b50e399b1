// A goal: a figure, its bound, and whether it was met.
import { alignColumns } from './table.ts';

export interface Goal {
  /** Description of the figure. */
  what: string;
  /** Measured value; undefined if the figure could not be measured. */
  measured: number | undefined;
  unit: string;
  atMost?: number;
  atLeast?: number;
}

/** Whether a goal is met; undefined if it was not measured. */
export function isMet({ measured, atMost, atLeast }: Goal): boolean | undefined {
  if (measured === undefined || Number.isNaN(measured)) return undefined;
  return (atMost === undefined || measured <= atMost) && (atLeast === undefined || measured >= atLeast);
}

/** One line per goal: description, measured value, bound, met or not. */
export function goalTable(goals: readonly Goal[]): string {
  const lines = goals.map((goal) => [
    goal.what,
    amount(goal.measured, goal.unit),
    goal.atMost === undefined
      ? `at least ${amount(goal.atLeast, goal.unit)}`
      : `at most ${amount(goal.atMost, goal.unit)}`,
    { true: 'met', false: 'NOT MET', undefined: '-' }[String(isMet(goal)) as 'true' | 'false' | 'undefined'],
  ]);
  return alignColumns([['goal', 'measured', 'aim', ''], ...lines]);
}

function amount(value: number | undefined, unit: string): string {
  if (value === undefined || Number.isNaN(value)) return '-';
  const size = Math.abs(value);
  const digits = Number.isInteger(value) ? 0 : size < 1 ? 3 : size < 10 ? 2 : 1;
  return unit === '' ? value.toFixed(digits) : `${value.toFixed(digits)} ${unit}`;
}
