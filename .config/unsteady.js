// Reads test/unsteady.md: files that failed in a whole run and passed alone. A file with two rows that are not fixed
// fails the check: fix it before building anything else. Usage: node .config/unsteady.js (part of npm run tested)
import { existsSync, readFileSync } from 'node:fs';

const LIST = 'test/unsteady.md';

/** Rows of the list: date, file, test, suspected cause, and the commit or date of the fix ('' if there is none). */
export function readUnsteady(text = readFileSync(LIST, 'utf8')) {
  const rows = text.split('\n').filter((line) => /^\| \d{4}-\d\d-\d\d /.test(line));
  return rows.map((row) => {
    const [date, file, test, cause, fixed = ''] = row.slice(2, -1).split(' | ').map((cell) => cell.trim());
    return { date, file: file.replaceAll('`', ''), test, cause, fixed };
  });
}

/** What is wrong with the list, one line per fault. */
export function unsteadyFaults(rows, fileExists = existsSync) {
  const open = rows.filter(({ fixed }) => fixed === '').map(({ file }) => file);
  return [
    ...rows.filter(({ file }) => !fileExists(file)).map(({ file }) => `${LIST}: no such file ${file}`),
    ...rows.filter(({ cause }) => !cause).map(({ file }) => `${LIST}: ${file} has no suspected cause`),
    ...new Set(open.filter((file, index) => open.indexOf(file) !== index)),
  ].map((fault) => (fault.startsWith(LIST) ? fault : `${LIST}: ${fault} was unsteady twice: fix it first`));
}

if (import.meta.main) {
  const faults = unsteadyFaults(readUnsteady());
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
