/**
 * A copy of the checkout in a temporary folder, in which files are mutated and jest is run. The checkout itself is only
 * read: whatever happens to this process, nothing is left to repair.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Outcome = 'passed' | 'failed' | 'timed out';

export interface TestRun {
  readonly outcome: Outcome;
  /** By test file, of those that ran to their end. */
  readonly files: ReadonlyMap<string, { passed: boolean; ms: number }>;
}

interface JestReport {
  testResults: { name: string; status: string; startTime: number; endTime: number }[];
}

const JEST = 'node_modules/jest/bin/jest.js';

export class Trials {
  /** Of the copy, links resolved. */
  readonly root: string;
  private readonly folder: string;
  private child: ChildProcess | null = null;

  constructor(checkout: string) {
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

  /** Runs the tests one after the other as they are given; with `bail`, up to the first that fails. */
  async run(
    tests: readonly string[],
    { bail, limitMs }: { bail: boolean; limitMs: number },
  ): Promise<TestRun> {
    const report = join(this.folder, 'report.json');
    rmSync(report, { force: true });
    const options = ['--runInBand', '--forceExit', '--silent', '--reporters=default'];
    const order = tests.map((test) => join(this.root, test));
    const child = spawn(
      process.execPath,
      [
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        JEST,
        ...options,
        ...(bail ? ['--bail=1'] : []),
        `--testSequencer=${join(this.root, 'test/mutants/nearest-first.cjs')}`,
        '--json',
        `--outputFile=${report}`,
        '--runTestsByPath',
        ...tests,
      ],
      // A group of its own, so that what the tests started ends with them.
      {
        cwd: this.root,
        detached: true,
        stdio: 'ignore',
        env: { ...process.env, WEIR_TEST_ORDER: JSON.stringify(order) },
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
    if (limit.isOver) return { outcome: 'timed out', files: new Map() };
    return { outcome: code === 0 ? 'passed' : 'failed', files: this.filesIn(report) };
  }

  /** Ends what runs and removes the copy. */
  close(): void {
    this.killTests();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  private killTests(): void {
    if (this.child?.pid === undefined) return;
    try {
      process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // The group has ended by itself.
    }
  }

  private filesIn(report: string): TestRun['files'] {
    let text;
    try {
      text = readFileSync(report, 'utf8');
    } catch {
      // Jest ended without a report: no file ran to its end.
      return new Map();
    }
    const { testResults } = JSON.parse(text) as JestReport;
    return new Map(
      testResults.map(({ name, status, startTime, endTime }) => [
        name.slice(this.root.length + 1),
        { passed: status === 'passed', ms: endTime - startTime },
      ]),
    );
  }
}

/**
 * What git knows of, and what it would take up, relative to the checkout; without what is deleted and not committed.
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
  // A link to the packages is no folder to git, and so not ignored.
  const left = new Set([...list('--deleted'), 'node_modules']);
  return list('--cached', '--others', '--exclude-standard').filter((path) => !left.has(path));
}
