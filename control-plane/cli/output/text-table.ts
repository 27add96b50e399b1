/** Plain-text tables: columns are aligned by the width of characters, and truncated to the width of the terminal. */
import { fitted, printable, widthOf } from './printable.ts';
import { toned } from './screen.ts';
import type { Screen, Tone } from './screen.ts';

/** A column. */
export interface Column {
  readonly title: string;
  readonly side?: 'left' | 'right';
}

/** A cell: untrusted text, with or without a tone. */
export type Cell = string | number | null | { readonly text: string; readonly tone: Tone };

const GAP = '  ';
/** Minimum width of a truncated column. */
const MIN_WIDTH = 8;

/** Prints rows below the titles of the columns. If the terminal is too narrow, the widest columns are truncated. */
export function printTable(
  screen: Screen,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): void {
  const texts = rows.map((row) => row.map(cellText));
  const wanted = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...texts.map((row) => widthOf(row[at] ?? ''))),
  );
  const widths = narrowed(wanted, screen.columns);
  const line = (cells: readonly string[], toneAt: (at: number) => Tone | undefined): string =>
    cells
      .map((text, at) => {
        const isLast = at === columns.length - 1;
        const { side = 'left' } = columns[at]!;
        const shown = fitted(text, widths[at]!, isLast && side === 'left' ? 'unpadded' : side);
        const tone = toneAt(at);
        return tone === undefined ? shown : toned(screen, tone, shown);
      })
      .join(GAP);
  const titles = columns.map(({ title }) => title);
  screen.out(line(titles, () => 'head'));
  for (const [at, row] of rows.entries()) screen.out(line(texts[at]!, (cell) => toneOf(row[cell])));
}

function cellText(cell: Cell): string {
  if (cell === null) return '-';
  return printable(typeof cell === 'object' ? cell.text : String(cell));
}

function toneOf(cell: Cell | undefined): Tone | undefined {
  return typeof cell === 'object' ? cell?.tone : undefined;
}

/** Reduces the widest columns until a line fits. */
function narrowed(wanted: readonly number[], columns: number | null): number[] {
  const widths = [...wanted];
  if (columns === null) return widths;
  let over = widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) - columns;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= MIN_WIDTH) break;
    widths[widths.indexOf(widest)] = widest - 1;
    over--;
  }
  return widths;
}
