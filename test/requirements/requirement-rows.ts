/**
 * The rows of Weir's requirements, each with the test cases that prove it: endpoints, configuration keys, rules, known
 * faults of other servers (hardening), and failures (from which `.config/failures.js` also generates docs/failures.md).
 * `.config/requirements.js` checks that the tests exist; `ran-rows.ts` checks that they ran and passed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { keysOf } from '../../config/keys.ts';
import { keys as sections } from '../../config/sections.ts';
import type { Route } from '../../control-plane/api/route.ts';
import { everyOperation, everyRow } from '../support/parts/every-route.ts';

/** A requirement. Without a test, it has a reason: the test is missing, or the requirement does not apply. */
export interface RequirementRow {
  readonly what: string;
  /** The test file, relative to the checkout. */
  readonly file: string;
  /**
   * Titles of the cases as jest reports them, with `it.each` expanded; full names if a title occurs more than once in
   * the file.
   */
  readonly titles: readonly string[];
  readonly missing?: string;
  readonly notApplicable?: string;
}

/**
 * A row as written in the file: one title, several titles, or a title for each of a group of operations
 * (`{operation}`).
 */
interface WrittenRow {
  readonly what: string;
  readonly file?: string;
  readonly title?: string;
  readonly titles?: readonly string[];
  readonly operations?: keyof typeof OPERATIONS;
  readonly missing?: string;
  readonly notApplicable?: string;
}

export interface RequirementTables {
  readonly tables: Readonly<Record<string, readonly RequirementRow[]>>;
  /** Faults in the rows themselves. */
  readonly faults: readonly string[];
}

/** Groups of operations that share a test with one case for each operation. */
const OPERATIONS = {
  all: () => true,
  guarded: ({ access }) => access !== 'public',
  public: ({ access }) => access === 'public',
  changing: ({ method }) => method !== 'GET',
  'with a JSON body': ({ body, bodyType }) => body !== undefined && bodyType === 'application/json',
} satisfies Record<string, (route: Route) => boolean>;

const SOURCES = ['config', 'control-plane', 'dns-worker', 'shared', 'test'];
const WALK = 'test/api/walk/walk.test.ts';

/** Reads all rows of a checkout. */
export function readRequirements(rootDir: string): RequirementTables {
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(join(rootDir, 'test/requirements', `${name}.json`), 'utf8'));
  const rows = (name: string): RequirementRow[] => (read(name) as WrittenRow[]).map(completed);
  const faults: string[] = [];
  const keys = rows('keys');
  faults.push(...faultsOfKeys(keys));
  const endpoints = read('endpoints') as string[];
  faults.push(...faultsOfEndpoints(endpoints));
  const tables = {
    Endpoints: endpointRows(endpoints),
    'Configuration keys': keys,
    Rules: rows('rules'),
    Hardening: rows('hardening'),
    Failures: failureRows(rootDir, read('failures') as Failure[], faults),
  };
  return { tables, faults };
}

function completed({ title, titles, operations, file = '', ...row }: WrittenRow): RequirementRow {
  if (operations === undefined)
    return { ...row, file, titles: titles ?? (title === undefined ? [] : [title]) };
  const names = everyRow.filter(OPERATIONS[operations]).map(nameOf);
  return { ...row, file, titles: names.map((name) => title!.replace('{operation}', name)) };
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** Rows of operations. Every operation has a case in the walk; `wanted` also lists operations without a route yet. */
function endpointRows(wanted: readonly string[]): RequirementRow[] {
  const operations = new Set(everyOperation.map(nameOf));
  return [...new Set([...wanted, ...operations])].map((what) =>
    operations.has(what)
      ? { what, file: WALK, titles: [`${what} succeeds`] }
      : { what, file: '', titles: [], missing: 'no such route yet' },
  );
}

function faultsOfEndpoints(wanted: readonly string[]): string[] {
  const named = new Set(wanted);
  const twice = wanted.filter((name, index) => wanted.indexOf(name) !== index);
  return [
    ...everyOperation
      .map(nameOf)
      .filter((name) => !named.has(name))
      .map((name) => `${name}: not in test/requirements/endpoints.json: add it`),
    ...twice.map((name) => `${name}: duplicated in test/requirements/endpoints.json`),
  ];
}

function faultsOfKeys(rows: readonly RequirementRow[]): string[] {
  const named = new Set(rows.map(({ what }) => what));
  const real = new Set(keysOf(sections).map(({ path }) => path.join('.')));
  const without = [...real].filter((name) => !named.has(name));
  const unknown = [...named].filter((name) => !real.has(name));
  return [
    ...without.map((name) => `${name}: no row in test/requirements/keys.json: name the test of its effect`),
    ...unknown.map((name) => `${name}: no such configuration key`),
  ];
}

/** A failure, Weir's reaction, and the cases that prove it: titles by the base name of their test file. */
interface Failure {
  readonly failure: string;
  readonly effect: string;
  readonly shownBy: Readonly<Record<string, readonly string[]>>;
}

/** Rows of failures, one for each test file of a failure. */
function failureRows(rootDir: string, failures: readonly Failure[], faults: string[]): RequirementRow[] {
  const files = testFilesByName(rootDir);
  const known = new Set<string>();
  return failures.flatMap(({ failure, shownBy }) => {
    if (known.has(failure)) faults.push(`failures.json: two rows for "${failure}"`);
    known.add(failure);
    if (Object.keys(shownBy).length === 0) faults.push(`failures.json: "${failure}" names no test`);
    return Object.entries(shownBy).map(([name, titles]) => ({
      what: failure,
      file: files.get(name) ?? name,
      titles,
    }));
  });
}

function testFilesByName(rootDir: string): Map<string, string> {
  const files = SOURCES.flatMap((folder) =>
    readdirSync(join(rootDir, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    ),
  );
  return new Map(files.filter((name) => name.endsWith('.test.ts')).map((name) => [basename(name), name]));
}
