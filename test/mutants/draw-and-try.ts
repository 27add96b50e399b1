/** `npm run mutants`: do the tests detect wrong code? Draws mutants by folder, tries each, and prints the results. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, draw, mutantsOf, mutated, shown } from './code-mutants.ts';
import { type Importers, importersOf, testsOf } from './related-tests.ts';
import { type TestRun, Trials, filesOf } from './trials.ts';

const AREAS = [
  'dns-worker/stages',
  'dns-worker/policy',
  'dns-worker/cache',
  'dns-worker/dnssec',
  'dns-worker/resolve',
  'control-plane/policy/compile',
  'control-plane/policy/snapshot',
  'control-plane/query-log',
  'shared/snapshot',
  'shared/policy',
  'shared/dns',
];

const HELP = `npm run mutants -- [options]

  --area a,b        folders of source files (${AREAS.join(', ')})
  --at FILE:LINE    instead: all mutants of a line; a suffix of the path is enough
  --sample N        mutants drawn from each folder (20)
  --seed N          seed of the selection (1)
  --tests N         maximum number of test files per mutant, the nearest first (8)
  --secs N          maximum time of these files without mutants; the nearest always runs (20)
  --help

A mutant is found if a test fails, or hangs: three times as long as the unchanged code, and 20 s. Works in a copy.
`;

/** Additional time for the tests of a mutant, after three times the duration with unchanged code. */
const GRACE_MS = 20_000;
/** Time limit for the run of the unchanged code. */
const BASELINE_LIMIT_MS = 15 * 60_000;

interface Score {
  area: string;
  tried: number;
  found: number;
  survivors: string[];
}

const root = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    area: { type: 'string' },
    at: { type: 'string' },
    sample: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', default: '8' },
    secs: { type: 'string', default: '20' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) print(HELP);
else await main();

async function main(): Promise<void> {
  const sources = filesOf(root).filter((path) => path.endsWith('.ts'));
  const samples = values.at === undefined ? samplesByArea(sources) : sampleAt(values.at, sources);
  const importers = importersOf(root, sources);
  const trials = new Trials(root);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      trials.close();
      process.exit(1);
    });
  }
  try {
    const scores: Score[] = [];
    for (const [area, mutants] of samples) scores.push(await tryArea(area, mutants, importers, trials));
    printTable(scores);
  } finally {
    trials.close();
  }
}

function samplesByArea(sources: readonly string[]): Map<string, Mutant[]> {
  const samples = new Map<string, Mutant[]>();
  for (const area of values.area?.split(',') ?? AREAS) {
    const files = sources.filter((path) => path.startsWith(`${area}/`) && !path.endsWith('.test.ts'));
    if (files.length === 0) throw new Error(`${area}: no source file there`);
    const texts = new Map(files.map((file) => [file, textOf(file)]));
    samples.set(area, draw(texts, numberOf('sample'), numberOf('seed')));
  }
  return samples;
}

function sampleAt(place: string, sources: readonly string[]): Map<string, Mutant[]> {
  const [end, line] = place.split(':');
  const files = sources.filter((path) => `/${path}`.endsWith(`/${end ?? ''}`));
  if (files.length !== 1) throw new Error(`--at ${place}: ${files.length} files are called so`);
  const all = mutantsOf(files[0]!, textOf(files[0]!));
  return new Map([[place, line === undefined ? all : all.filter((mutant) => mutant.line === Number(line))]]);
}

function numberOf(option: 'sample' | 'seed' | 'tests' | 'secs'): number {
  const number = Number(values[option]);
  if (!Number.isInteger(number) || number < 0) throw new Error(`--${option}: expected a whole number`);
  return number;
}

async function tryArea(
  area: string,
  mutants: readonly Mutant[],
  importers: Importers,
  trials: Trials,
): Promise<Score> {
  const testsByFile = new Map<string, string[]>();
  for (const { file } of mutants) testsByFile.set(file, testsOf(file, importers, numberOf('tests')));
  const allTests = [...new Set([...testsByFile.values()].flat())];
  const baseline = await trials.run(allTests, { bail: false, limitMs: BASELINE_LIMIT_MS });
  if (baseline.outcome === 'timed out')
    throw new Error(`${area}: the tests of the unchanged code do not end`);
  if (allTests.length > 0 && baseline.files.size === 0) throw new Error(`${area}: jest runs no test`);
  for (const [test, { passed }] of baseline.files)
    if (!passed) print(`left out, fails without mutants: ${test}\n`);
  const totalMs = [...baseline.files.values()].reduce((sum, { ms }) => sum + ms, 0);
  print(
    `${area}: ${mutants.length} mutants, ${baseline.files.size} test files, ${Math.round(totalMs / 1000)} s\n`,
  );
  const score: Score = { area, tried: 0, found: 0, survivors: [] };
  for (const mutant of mutants) {
    const tests = testsInTime(testsByFile.get(mutant.file)!, baseline);
    const usualMs = tests.reduce((sum, test) => sum + baseline.files.get(test)!.ms, 0);
    const text = textOf(mutant.file);
    const runTests = () => trials.run(tests, { bail: true, limitMs: 3 * usualMs + GRACE_MS });
    const { outcome, files } = await trials.withText(mutant.file, mutated(text, mutant), runTests);
    score.tried++;
    const place = `${mutant.file}:${mutant.line} ${mutant.kind}`;
    if (outcome === 'passed') {
      score.survivors.push(`${place}\n${shown(text, mutant)}`);
      print(`SURVIVED ${place} (${files.size} test files)\n${shown(text, mutant)}\n`);
    } else {
      score.found++;
      const by = [...files].find(([, { passed }]) => !passed)?.[0];
      print(`found    ${place} (${by === undefined ? outcome : basename(by)})\n`);
    }
  }
  return score;
}

/**
 * Tests that pass with unchanged code within the time limit: first the nearest tests, which detect most mutants, then
 * the fastest.
 */
function testsInTime(tests: readonly string[], { files }: TestRun): string[] {
  const msOf = (test: string): number => files.get(test)!.ms;
  let leftMs = numberOf('secs') * 1000;
  const [nearest, ...others] = tests.filter((test) => files.get(test)?.passed === true);
  if (nearest === undefined) return [];
  leftMs -= msOf(nearest);
  const inTime = others.filter((test) => msOf(test) <= leftMs && (leftMs -= msOf(test)) >= 0);
  return [nearest, ...inTime.sort((a, b) => msOf(a) - msOf(b))];
}

function printTable(scores: readonly Score[]): void {
  print(`\n${'area'.padEnd(28)} mutants  found\n`);
  for (const { area, tried, found } of scores) {
    const share = tried === 0 ? '' : `${Math.round((100 * found) / tried)} %`;
    print(
      `${area.padEnd(28)} ${String(tried).padStart(7)} ${String(found).padStart(6)} ${share.padStart(6)}\n`,
    );
  }
  const survivors = scores.flatMap((score) => score.survivors);
  if (survivors.length > 0) print(`\nsurvivors:\n${survivors.join('\n')}\n`);
}

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function print(text: string): void {
  process.stdout.write(text);
}
