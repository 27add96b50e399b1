/** What `npm run check` finds wrong in the list of unsteady files. */
import { readUnsteady, unsteadyFaults } from '../../.config/unsteady.js';

const row = (file: string, cause = 'a short time limit', fixed = '') =>
  `| 2026-11-28 | \`${file}\` | answers | ${cause} | ${fixed} |`;
const faultsOf = (...rows: string[]) =>
  unsteadyFaults(readUnsteady(`# Unsteady\n\n| Date | File |\n${rows.join('\n')}\n`), () => true);

describe('unsteadyFaults()', () => {
  it('accepts a file that is listed once, or again after a fix', () => {
    expect(faultsOf(row('a.test.ts'), row('b.test.ts'))).toEqual([]);
    expect(faultsOf(row('a.test.ts', 'a race', '2026-11-29'), row('a.test.ts'))).toEqual([]);
  });

  it('refuses a second row of a file that is not fixed', () => {
    expect(faultsOf(row('a.test.ts'), row('a.test.ts'))).toEqual([
      'test/unsteady.md: a.test.ts was unsteady twice: fix it first',
    ]);
  });

  it('refuses a row without a suspected cause', () => {
    expect(faultsOf(row('a.test.ts', ''))).toEqual(['test/unsteady.md: a.test.ts has no suspected cause']);
  });

  it('refuses a file that does not exist', () => {
    const rows = readUnsteady(row('gone.test.ts'));
    expect(unsteadyFaults(rows, () => false)).toEqual(['test/unsteady.md: no such file gone.test.ts']);
  });
});
