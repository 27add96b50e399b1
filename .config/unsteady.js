// Reads test/unsteady.md, the list of files that failed in a whole run and passed by themselves. The check fails if the
// list has two rows for one file that are not marked as fixed: fix the file before building anything else. Usage: node
// .config/unsteady.js (part of npm run check -- tested)
import { existsSync, readFileSync } from 'node:fs';

const LIST = 'test/unsteady.md';
const COLUMNS = 5;

/** Rows of the list: file, suspected cause, and when the file was fixed ('' = not fixed). */
export function readUnsteady() {
  const rows = readFileSync(LIST, 'utf8')
    .split('\n')
    .filter((line) => /^\| \d{4}-\d\d-\d\d /.test(line));
  return rows.map((row) => {
    const cells = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const [, , file = '', , cause = '', fixed = ''] = cells;
    return { file: file.replaceAll('`', ''), cause, fixed, isWhole: cells.length === COLUMNS + 2 };
  });
}

function faultsOf(rows) {
  const open = rows.filter(({ fixed }) => fixed === '').map(({ file }) => file);
  const twice = open.filter((file, index) => open.indexOf(file) !== index);
  return [
    ...rows
      .filter(({ isWhole }) => !isWhole)
      .map(({ file }) => `the row of ${file} must have ${COLUMNS} cells`),
    ...rows.filter(({ file }) => !existsSync(file)).map(({ file }) => `no such file ${file}`),
    ...rows.filter(({ cause }) => cause === '').map(({ file }) => `${file} has no suspected cause`),
    ...Array.from(new Set(twice), (file) => `${file} was unsteady twice: fix it first`),
  ];
}

if (process.argv[1] === import.meta.filename) {
  const faults = faultsOf(readUnsteady());
  for (const fault of faults) console.error(`${LIST}: ${fault}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
