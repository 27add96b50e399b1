// `npm test`: runs jest, then each failed file again by itself. A file that passes the second time is reported as
// unsteady and does not fail the run; its second result replaces the first. If more than twelve files fail, there is no
// second run. After a whole run, each case that a row of test/requirements/ names must have passed. The last line is `N
// passed, N failed`. Usage: node .config/run-tests.js [arguments of jest]; options written as `--name=value` also apply
// to the second runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { closingLine, countResults, failedFiles, firstFailure, replaceFile } from './test-results.js';
import { readUnsteady } from './unsteady.js';

/** About one in a hundred files. More failures have a cause worth investigating, even on a busy machine. */
const MAX_SECOND_CHANCES = 12;
const JEST = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
const JEST_PROGRAM = join(import.meta.dirname, '..', 'node_modules', 'jest', 'bin', 'jest.js');
/** Options that the second run of a file sets itself. */
const OF_FIRST_RUN = /^--(?:maxWorkers|runInBand|testNamePattern|t)=/;
/** Options with which jest runs no test. */
const WITHOUT_TESTS = /^--(?:listTests|help|version|showConfig|clearCache)$/;

const args = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'weir-results-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

let jest;
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    isInterrupted = true;
    // A terminal also sends Ctrl+C to jest.
    if (signal !== 'SIGINT') jest?.kill(signal);
  });

/** Runs jest with these arguments; returns its exit status and its results, which are null if jest wrote none. */
async function runJest(jestArgs, resultsName, env = {}) {
  const file = join(folder, resultsName);
  jest = spawn(process.execPath, [...JEST, JEST_PROGRAM, ...jestArgs], {
    stdio: 'inherit',
    // If jest runs this program in a test, the suites that the outer jest skipped must not count here.
    env: { ...process.env, WEIR_TEST_SKIPPED: '', ...env, WEIR_TEST_RESULTS: file },
  });
  const [code, signal] = await once(jest, 'close');
  if (existsSync(file)) return { exitCode: code ?? 1, results: JSON.parse(readFileSync(file, 'utf8')) };
  if (!jestArgs.some((arg) => WITHOUT_TESTS.test(arg)))
    console.error(`jest ended with ${signal ?? `status ${code}`} and left no results`);
  return { exitCode: code ?? 1, results: null };
}

/**
 * Runs each failed file again, by itself and with traces of its pages; returns the results, in which files that passed
 * now are replaced.
 */
async function giveSecondChances(first, failed) {
  const options = args.filter((arg) => /^--[\w-]+=/.test(arg) && !OF_FIRST_RUN.test(arg));
  const byName = first.testNamePattern ? ['-t', first.testNamePattern] : [];
  let merged = first;
  const unsteady = [];
  for (const [index, file] of failed.entries()) {
    if (isInterrupted) break;
    console.log(`\nsecond chance for ${relative('.', file.name)}, alone (${index + 1} of ${failed.length})`);
    const chosen = [...options, '--runInBand', ...byName, '--runTestsByPath', file.name];
    const { exitCode, results } = await runJest(chosen, `again-${index}.json`, { WEIR_TEST_TRACE: '1' });
    const again = results?.testResults.find(({ name }) => name === file.name);
    // If jest fails without a failed test, for example because a process does not end, the second run does not prove
    // that the file passes.
    if (again === undefined || (exitCode !== 0 && failedFiles(results).length === 0)) continue;
    merged = replaceFile(merged, again);
    if (exitCode === 0) unsteady.push(file);
  }
  if (unsteady.length > 0) reportUnsteady(unsteady);
  return merged;
}

function reportUnsteady(files) {
  const open = readUnsteady().filter(({ fixed }) => fixed === '');
  const listed = new Set(open.map(({ file }) => file));
  console.log(`\nUnsteady: failed beside other files, passed alone. Add each to test/unsteady.md:`);
  for (const file of files)
    reportFailure(file, listed.has(relative('.', file.name)) ? ' (listed before: fix it first)' : '');
}

function reportFailure(file, note = '') {
  const { title, message, durationMs } = firstFailure(file);
  console.log(`- ${relative('.', file.name)}${note}`);
  console.log(`  ${title}, failed after ${durationMs} ms`);
  console.log(message.replace(/^/gm, '    '));
}

/** A line for each row of requirements whose case did not run or did not pass in this whole run. */
async function missingCases(whole) {
  const { missingRows } = await import('./ran-rows.js');
  return missingRows(whole, process.cwd(), whole.skippedFiles);
}

const { exitCode, results: first } = await runJest(args, 'first.json');
if (first === null) process.exit(args.some((arg) => WITHOUT_TESTS.test(arg)) ? exitCode : exitCode || 1);
const failed = failedFiles(first);
let results = first;
if (failed.length > MAX_SECOND_CHANCES)
  console.log(`\n${failed.length} files failed; at most ${MAX_SECOND_CHANCES} get a second chance`);
else if (failed.length > 0) results = await giveSecondChances(first, failed);

const counts = countResults(results);
// Repeated here, because people look first at the end of a long log.
const stillFailed = failedFiles(results);
if (stillFailed.length > 0) console.log(`\nFailed, with the first failure of each file:`);
for (const file of stillFailed) reportFailure(file);
// With arguments, only some tests may have run.
const missing = args.length === 0 && counts.failed === 0 ? await missingCases(results) : [];
for (const row of missing) console.log(row);
counts.failed += missing.length;
const isUnexplained = failed.length === 0 && exitCode !== 0;
if (isUnexplained) console.error(`jest ended with status ${exitCode}, though no test failed`);
process.exitCode = counts.failed > 0 || isInterrupted || isUnexplained ? 1 : 0;
console.log(closingLine(counts));
