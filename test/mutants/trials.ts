/**
 * A copy of the checkout in a temporary folder, in which files are mutated and jest is run. The checkout itself is only
 * read, so that it is not damaged if this process is killed.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RunResults } from '../requirements/ran-rows.ts';

export type Outcome = 'passed' | 'failed' | 'timed out';

export interface TestRun extends RunResults {
  readonly outcome: Outcome;
  /** Result and duration by test file, of the completed files. */
  readonly files: ReadonlyMap<string, { passed: boolean; ms: number }>;
}

/** Options of a test run. */
interface TestRunOptions {
  /** Whether to stop after the first file that fails. */
  readonly bail: boolean;
  readonly limitMs: number;
  /** Runs only cases whose title or full name ends with one of these titles. */
  readonly titles?: readonly string[];
  /** A file that jest runs before each test file. */
  readonly setUp?: string;
  readonly env?: Readonly<Record<string, string>>;
}

type FileResult = RunResults['testResults'][number] & { status: string; startTime: number; endTime: number };

const JEST = 'node_modules/jest/bin/jest.js';

export class Trials {
  /** Root of the copy, with links resolved. */
  readonly root: string;
  private readonly folder: string;
  private readonly wrapper: readonly string[];
  private child: ChildProcess | null = null;

  /** @param wrapper command that runs jest; it gets the command of jest as its last arguments */
  constructor(checkout: string, wrapper: readonly string[] = []) {
    this.wrapper = wrapper;
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'weir-mutants-')));
    this.root = join(this.folder, 'checkout');
    try {
      for (const file of filesOf(checkout)) cpSync(join(checkout, file), join(this.root, file));
      symlinkSync(realpathSync(join(checkout, 'node_modules')), join(this.root, 'node_modules'));
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Runs `work` with the file's text replaced. */
  async withText<T>(file: string, text: string, work: () => Promise<T>): Promise<T> {
    const path = join(this.root, file);
    const before = readFileSync(path);
    writeFileSync(path, text);
    try {
      return await work();
    } finally {
      writeFileSync(path, before);
    }
  }

  /** Writes a file of the copy. */
  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.root, file)), { recursive: true });
    writeFileSync(join(this.root, file), text);
  }

  /** Runs the tests one after another in the given order. */
  async run(
    tests: readonly string[],
    { bail, limitMs, titles, setUp, env }: TestRunOptions,
  ): Promise<TestRun> {
    const report = join(this.folder, 'report.json');
    rmSync(report, { force: true });
    const options = ['--runInBand', '--forceExit', '--silent', '--reporters=default'];
    const order = tests.map((test) => join(this.root, test));
    const named = titles?.map((title) => title.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
    const [program, ...args] = [...this.wrapper, process.execPath];
    const child = spawn(
      program,
      [
        ...args,
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        JEST,
        ...options,
        ...(bail ? ['--bail=1'] : []),
        ...(named === undefined ? [] : [`--testNamePattern=(${named.join('|')})$`]),
        ...(setUp === undefined ? [] : [`--setupFilesAfterEnv=${join(this.root, setUp)}`]),
        `--testSequencer=${join(this.root, 'test/mutants/nearest-first.cjs')}`,
        '--json',
        `--outputFile=${report}`,
        '--runTestsByPath',
        ...tests,
      ],
      // A separate process group, so that processes started by the tests end with them.
      {
        cwd: this.root,
        detached: true,
        stdio: 'ignore',
        env: { ...process.env, ...env, WEIR_TEST_ORDER: JSON.stringify(order) },
      },
    );
    this.child = child;
    const limit = { isOver: false };
    const timer = setTimeout(() => {
      limit.isOver = true;
      this.killTests();
    }, limitMs);
    const code = await new Promise((settle, fail) => child.once('exit', settle).once('error', fail));
    clearTimeout(timer);
    this.killTests();
    this.child = null;
    if (limit.isOver) return { outcome: 'timed out', files: new Map(), testResults: [] };
    const testResults = resultsIn(report);
    return { outcome: code === 0 ? 'passed' : 'failed', files: this.filesOf(testResults), testResults };
  }

  /** Ends running processes and deletes the copy. */
  close(): void {
    this.killTests();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  private killTests(): void {
    if (this.child?.pid === undefined) return;
    try {
      process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // The group has already ended.
    }
  }

  private filesOf(results: readonly FileResult[]): TestRun['files'] {
    return new Map(
      results.map(({ name, status, startTime, endTime }) => [
        name.slice(this.root.length + 1),
        { passed: status === 'passed', ms: endTime - startTime },
      ]),
    );
  }
}

function resultsIn(report: string): FileResult[] {
  let text;
  try {
    text = readFileSync(report, 'utf8');
  } catch {
    // Jest ended without a report: no file was completed.
    return [];
  }
  return (JSON.parse(text) as { testResults: FileResult[] }).testResults;
}

/**
 * Files that git tracks or would add, relative to the checkout; without uncommitted deletions.
 */
export function filesOf(checkout: string): string[] {
  const list = (...options: string[]): string[] =>
    execFileSync('git', ['ls-files', '-z', ...options], {
      cwd: checkout,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    })
      .split('\0')
      .filter((path) => path !== '');
  // In the copy, the packages are a link, which git does not ignore as it ignores the folder.
  const left = new Set([...list('--deleted'), 'node_modules']);
  return list('--cached', '--others', '--exclude-standard').filter((path) => !left.has(path));
}
