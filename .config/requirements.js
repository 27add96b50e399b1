// The table of requirements, with the tests that verify each (test/requirements/requirement-rows.ts). Fails if a row
// names a test that does not exist, and if an endpoint or a key has no row. `npm test` checks that the cases of the
// rows ran and passed (ran-rows.js). A row without a test states a reason, and whether the test is missing or the
// requirement does not apply. Usage: node .config/requirements.js [--print] (--print also prints the table).
import { existsSync, readFileSync } from 'node:fs';
import { readRequirements } from '../test/requirements/requirement-rows.ts';
import { faultOfTitle, writtenTests } from '../test/requirements/written-titles.ts';

const { tables, faults: faultsOfRows } = readRequirements('.');
const faults = [...faultsOfRows];
const reasonOf = ({ missing, notApplicable }) =>
  missing === undefined ? notApplicable && `not applicable: ${notApplicable}` : `missing: ${missing}`;

const known = new Map();
function testsOf(file) {
  if (!known.has(file)) known.set(file, writtenTests(file, readFileSync(file, 'utf8')));
  return known.get(file);
}

for (const row of Object.values(tables).flat()) {
  if (reasonOf(row) !== undefined) continue;
  const { what, file, titles } = row;
  if (!existsSync(file)) faults.push(`${what}: no such file "${file}"`);
  else if (titles.length === 0) faults.push(`${what}: names no test of ${file}`);
  else
    for (const title of titles) {
      const fault = faultOfTitle(testsOf(file), title);
      if (fault !== null) faults.push(`${what}: ${file}: "${title}": ${fault}`);
    }
}

if (process.argv.includes('--print'))
  for (const [name, rows] of Object.entries(tables)) {
    const missing = rows.filter((row) => row.missing !== undefined).length;
    const besides = rows.filter((row) => row.notApplicable !== undefined).length;
    const covered = rows.length - missing - besides;
    console.log(
      `\n## ${name}: ${covered} of ${rows.length} covered, ${besides} not applicable, ${missing} missing\n`,
    );
    for (const row of rows)
      console.log(`${row.what} | ${reasonOf(row) ?? `${row.file}: ${row.titles.join('; ')}`}`);
  }
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
