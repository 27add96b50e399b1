// `npm test`: runs jest, then each failed file again, alone. A file that passes then is reported as unsteady and does
// not fail the run; its second result replaces the first. More than five failed files get no second chance. After a whole
// run, each case that a row of test/requirements/ names must have passed. The last line is `N passed, N failed`.
// Usage: node .config/run-tests.js [arguments of jest]; options written as `--name=value` also apply to the second runs.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { countResults, failedFiles, firstFailure, mergeResults } from './test-results.js';
import { readUnsteady } from './unsteady.js';

const MAX_SECOND_CHANCES = 5;
const JEST = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
const JEST_PROGRAM = join(import.meta.dirname, '..', 'node_modules', 'jest', 'bin', 'jest.js');

const args = process.argv.slice(2);
const options = args.filter((arg) => /^--[\w-]+=/.test(arg));
const folder = mkdtempSync(join(tmpdir(), 'weir-results-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
// A terminal sends Ctrl+C to jest as well, which ends by itself.
process.on('SIGINT', () => undefined);

/** Runs jest with these arguments; its exit status, and its results if it ran any file. */
async function runJest(args, resultsName, env = {}) {
  const file = join(folder, resultsName);
  const jest = spawn(process.execPath, [...JEST, JEST_PROGRAM, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env, WEIR_TEST_RESULTS: file },
  });
  const [code, signal] = await new Promise((resolve) => jest.once('close', (...ending) => resolve(ending)));
  if (!existsSync(file)) {
    if (code !== 0) console.error(`jest ended with ${signal ?? `status ${code}`} and left no results`);
    return { exitCode: code ?? 1, testResults: null };
  }
  return { exitCode: code, ...JSON.parse(readFileSync(file, 'utf8')) };
}

/** Runs each failed file again, alone and with traces of its pages; the results with the second ones in place. */
async function giveSecondChances(first, failed) {
  let merged = first;
  const unsteady = [];
  for (const [index, file] of failed.entries()) {
    console.log(`\nsecond chance for ${relative('.', file.name)}, alone (${index + 1} of ${failed.length})`);
    const byName = first.testNamePattern ? ['-t', first.testNamePattern] : [];
    const chosen = [...options, '--runInBand', ...byName, '--runTestsByPath', file.name];
    const again = await runJest(chosen, `again-${index}.json`, { WEIR_TEST_TRACE: '1' });
    if (again.testResults === null) continue;
    merged = mergeResults(merged, again);
    if (again.exitCode === 0) unsteady.push(file);
  }
  if (unsteady.length > 0) reportUnsteady(unsteady);
  return merged;
}

function reportUnsteady(files) {
  const listed = new Set(readUnsteady().map(({ file }) => file));
  console.log(`\nUnsteady: failed beside other files, passed alone. Add each to test/unsteady.md:`);
  for (const file of files) {
    const name = relative('.', file.name);
    const { title, message, durationMs } = firstFailure(file);
    console.log(`- ${name}${listed.has(name) ? ' (listed before: fix it first)' : ''}`);
    console.log(`  ${title}, failed after ${durationMs} ms`);
    console.log(message.replace(/^/gm, '    '));
  }
}

/** A line for each row of requirements whose case did not run or did not pass in this whole run. */
async function missingCases(whole) {
  const { missingRows } = await import('./ran-rows.js');
  return missingRows(whole, process.cwd(), whole.skippedFiles);
}

const first = await runJest(args, 'first.json');
if (first.testResults === null) process.exit(first.exitCode);
const failed = failedFiles(first);
let results = first;
if (failed.length > MAX_SECOND_CHANCES)
  console.log(`\n${failed.length} files failed; at most ${MAX_SECOND_CHANCES} get a second chance`);
else if (failed.length > 0 && !first.wasInterrupted) results = await giveSecondChances(first, failed);

const isRed = failedFiles(results).length > 0 || (failed.length === 0 && first.exitCode !== 0);
// With arguments, only some tests may have run.
const missing = args.length === 0 && !isRed ? await missingCases(results) : [];
for (const row of missing) console.error(row);
process.exitCode = isRed || missing.length > 0 ? 1 : 0;
console.log(countResults(results, missing.length));
