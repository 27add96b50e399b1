// The report on the terminal: figures and ratios of one workload as plain aligned text.
import type { RatioRow, Row } from './figures.ts';

const MISSING = '-';

/** The table of figures; the columns for workers and database are left out if no server has them. */
export function figureTable(rows: readonly Row[]): string {
  const workers = rows.some(({ workersCpuUs }) => workersCpuUs !== undefined);
  const children = rows.some(({ childrenCpuUs, childrenRssMiB }) => childrenCpuUs > 0 || childrenRssMiB > 0);
  const head = ['server', 'q/s', 'cpu us/q'];
  if (workers) head.push('workers us/q');
  if (children) head.push('children us/q');
  head.push('p50 us', 'p99 us', 'lost');
  const logs = rows.some(({ logLost }) => logLost !== undefined);
  if (logs) head.push('log lost');
  head.push('missed', 'RSS MiB');
  if (children) head.push('children MiB');
  head.push('load s');
  const lines = rows.map((row) => {
    const cells = [row.server, Math.round(row.qps).toLocaleString('en'), fixed(row.cpuUs, 2)];
    if (workers) cells.push(fixed(row.workersCpuUs, 2));
    if (children) cells.push(row.childrenRssMiB > 0 ? fixed(row.childrenCpuUs, 2) : MISSING);
    cells.push(fixed(row.p50Us, 0), fixed(row.p99Us, 0), String(row.lost));
    if (logs) cells.push(fixed(row.logLost, 0));
    cells.push(`${fixed(row.missShare * 100, 2)} %`, fixed(row.rssMiB, 0));
    if (children) cells.push(row.childrenRssMiB > 0 ? fixed(row.childrenRssMiB, 0) : MISSING);
    cells.push(fixed(row.loadSecs, 2));
    return cells;
  });
  return alignColumns([head, ...lines]);
}

/** The table of ratios, the baseline's figure divided by the server's. */
export function ratioTable(baseline: string, rows: readonly RatioRow[]): string {
  const workers = rows.some(({ workersCpu }) => workersCpu !== undefined);
  const head = [`${baseline} /`, 'q/s', 'cpu'];
  if (workers) head.push('workers cpu');
  head.push('p50', 'p99');
  const lines = rows.map((row) => {
    const cells = [row.server, fixed(row.qps, 2), fixed(row.cpu, 2)];
    if (workers) cells.push(fixed(row.workersCpu, 2));
    return [...cells, fixed(row.p50, 2), fixed(row.p99, 2)];
  });
  return alignColumns([head, ...lines]);
}

function fixed(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? MISSING : value.toFixed(digits);
}

/** Aligns the first column left and all other columns right, with two spaces between. */
export function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  '),
    )
    .join('\n');
}
