/**
 * `npm run mutants -- keys`: do the tests detect a server that ignores a key of the configuration? For each key, a copy
 * of the checkout ignores the key (`ignoring-schema.ts`), and the cases in test/requirements/keys.json must fail.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { casesByFile, faultOf } from '../requirements/ran-rows.ts';
import { readRequirements } from '../requirements/requirement-rows.ts';
import type { RequirementRow } from '../requirements/requirement-rows.ts';
import { type TestRun, Trials } from './trials.ts';

const HELP = `npm run mutants -- keys [options]

  --key a,b    keys, or sections with all their keys (all)
  --resume     skip keys that earlier runs (data/ignored-keys.json) found caught by the same test
  --help

Prints a row for each key: caught if a case that its row names fails while the server ignores the key, or does not end
in time. Each run of jest has its own network, in which there is only the loopback, and its own /data: a server that
ignores its upstreams or paths uses the default ones. This needs root and the programs unshare, ip and mount.
`;

/** Additional time for a case, after twice the duration with unchanged code. */
const GRACE_MS = 15_000;
const BASELINE_LIMIT_MS = 10 * 60_000;
const ISOLATED = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const IN_NETWORK = [
  'unshare',
  ...ISOLATED,
  'sh',
  '-c',
  'ip link set lo up && mkdir -p /data && mount -t tmpfs tmpfs /data && exec "$0" "$@"',
];

const KEY_FILE = 'data/ignored-key';
const SET_UP = 'test/mutants/ignore-key-of-case.ts';
/** Test file with cases about keys that are changed on one running server. */
const LIVE_FILE = 'test/e2e/config/live-keys.test.ts';
const FAILS = 'FAILS although no key is ignored';

/** The result of one key. */
interface Outcome {
  readonly key: string;
  readonly test: string;
  readonly outcome: string;
}

const root = join(import.meta.dirname, '../..');
const notes = join(root, 'data/ignored-keys.json');
const { values } = parseArgs({
  options: {
    key: { type: 'string' },
    resume: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) print(HELP);
else await main();

async function main(): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('ignored-keys needs root to create networks');
  const known = new Map(readNotes().map((outcome) => [outcome.key, outcome]));
  const rows = selectedRows().filter((row) => {
    const earlier = known.get(row.what);
    return !values.resume || earlier?.test !== testOf(row) || !earlier.outcome.startsWith('caught');
  });
  const trials = new Trials(root, IN_NETWORK);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      trials.close();
      process.exit(1);
    });
  }
  try {
    ignoreKeys(trials);
    for (const [file, ofFile] of Map.groupBy(rows, (row) => row.file)) {
      const note = (key: RequirementRow, outcome: string): void => {
        const noted = { key: key.what, test: testOf(key), outcome };
        print(`${noted.key} | ${noted.test} | ${outcome}\n`);
        known.set(noted.key, noted);
        writeNotes([...known.values()]);
      };
      await (file === LIVE_FILE ? tryLiveKeys(ofFile, trials, note) : tryFile(file, ofFile, trials, note));
    }
  } finally {
    trials.close();
  }
  printTable(selectedRows(), known);
}

/** Makes the server in the copy ignore the key in `IGNORED_KEY_FILE`. */
function ignoreKeys(trials: Trials): void {
  trials.write('config/given-schema.ts', readFileSync(join(root, 'config/schema.ts'), 'utf8'));
  trials.write(
    'config/schema.ts',
    `import { schema as given } from './given-schema.ts';
import { ignoredKey, ignoringSchema } from '../test/mutants/ignoring-schema.ts';
export const schema = ignoringSchema(given, ignoredKey);
`,
  );
  trials.write(KEY_FILE, '');
}

type Note = (row: RequirementRow, outcome: string) => void;

/** Tries the keys whose cases are in one file; the cases must pass while no key is ignored. */
async function tryFile(
  file: string,
  rows: readonly RequirementRow[],
  trials: Trials,
  note: Note,
): Promise<void> {
  const titles = rows.flatMap((row) => row.titles);
  const baseline = await trials.run([file], { bail: false, limitMs: BASELINE_LIMIT_MS, titles });
  for (const row of rows) {
    if (faultIn(baseline, row, trials) !== null) {
      note(row, FAILS);
      continue;
    }
    const limitMs = 2 * baseline.files.get(file)!.ms + GRACE_MS;
    trials.write(KEY_FILE, row.what);
    const run = await trials.run([file], { bail: false, limitMs, titles: row.titles });
    trials.write(KEY_FILE, '');
    note(row, outcomeOf(run, row, trials));
  }
}

/**
 * Tries keys that take effect while the server runs, in two runs: the first run ignores the keys of every second case,
 * the second run the keys of the remaining cases. The cases whose keys are not ignored must pass, so that no failure is
 * caused by an earlier case.
 */
async function tryLiveKeys(rows: readonly RequirementRow[], trials: Trials, note: Note): Promise<void> {
  const options = {
    bail: false,
    limitMs: BASELINE_LIMIT_MS,
    titles: rows.flatMap((row) => row.titles),
    setUp: SET_UP,
  };
  const runs: TestRun[] = [];
  for (const half of [0, 1]) {
    const ignored = rows.filter((_, at) => at % 2 === half);
    const keys = ignored.flatMap(({ what, titles }) => titles.map((title) => [title, what]));
    const env = { WEIR_IGNORED_KEYS: JSON.stringify(Object.fromEntries(keys)) };
    runs.push(await trials.run([LIVE_FILE], { ...options, env }));
  }
  rows.forEach((row, at) => {
    const [ignoring, other] = at % 2 === 0 ? runs : runs.toReversed();
    note(row, faultIn(other!, row, trials) === null ? outcomeOf(ignoring!, row, trials) : FAILS);
  });
}

function outcomeOf(run: TestRun, row: RequirementRow, trials: Trials): string {
  if (run.outcome === 'timed out') return 'caught (no end)';
  const fault = faultIn(run, row, trials);
  if (fault === null) return 'SURVIVED';
  return fault.startsWith('did not pass') ? 'caught' : `UNKNOWN: its case ${fault}`;
}

/** Reason why a case of the row does not count as passed; null if all cases pass. */
function faultIn(run: TestRun, { file, titles }: RequirementRow, trials: Trials): string | null {
  const cases = casesByFile(run, trials.root).get(file) ?? [];
  return titles.map((title) => faultOf(cases, title)).find((fault) => fault !== null) ?? null;
}

/** Rows of keys with an effect. */
function selectedRows(): RequirementRow[] {
  const wanted = values.key?.split(',');
  const rows = readRequirements(root).tables['Configuration keys']!.filter(({ titles }) => titles.length > 0);
  return rows.filter(
    ({ what }) => wanted?.some((name) => what === name || what.startsWith(`${name}.`)) ?? true,
  );
}

function testOf({ file, titles }: RequirementRow): string {
  return `${file}: ${titles.join('; ')}`;
}

function printTable(rows: readonly RequirementRow[], known: ReadonlyMap<string, Outcome>): void {
  const outcomes = rows.flatMap(({ what }) => known.get(what) ?? []);
  const caught = outcomes.filter(({ outcome }) => outcome.startsWith('caught'));
  print('\n| key | test | outcome |\n|---|---|---|\n');
  for (const { key, test, outcome } of outcomes) print(`| ${key} | ${test} | ${outcome} |\n`);
  print(`\n${caught.length} of ${rows.length} keys caught\n`);
  if (caught.length < rows.length) process.exitCode = 1;
}

function readNotes(): Outcome[] {
  try {
    return JSON.parse(readFileSync(notes, 'utf8')) as Outcome[];
  } catch {
    return [];
  }
}

function writeNotes(outcomes: readonly Outcome[]): void {
  mkdirSync(join(root, 'data'), { recursive: true });
  writeFileSync(notes, `${JSON.stringify(outcomes, null, 2)}\n`);
}

function print(text: string): void {
  process.stdout.write(text);
}
