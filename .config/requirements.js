// The table of what Weir is to do, row by row, with the test that shows it: endpoints, configuration keys, rules, what
// went wrong in other servers (hardening), and what may fail (section 7 of ARCHITECTURE.md). Fails where a row names a
// test that there is not, and where an endpoint or a key has no row. A row without a test says why: it counts as
// missing, or does not apply. Usage: node .config/requirements.js [--check] (npm run requirements prints the table).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { keysOf } from '../config/keys.ts';
import { keys as sections } from '../config/sections.ts';
import { everyOperation } from '../test/support/parts/every-route.ts';

const read = (name) => JSON.parse(readFileSync(`test/requirements/${name}.json`, 'utf8'));
const faults = [];

/** Every operation of the table is walked through; the walk itself fails where one does not succeed. */
const WALKED = { file: 'test/api/walk/walk.test.ts', title: '$name succeeds' };
const operations = new Set(everyOperation.map(({ method, path }) => `${method} ${path}`));
const wanted = new Set([...read('endpoints'), ...operations]);
const endpoints = [...wanted].map((what) =>
  operations.has(what) ? { what, ...WALKED } : { what, missing: 'no such route yet' },
);

const keys = read('keys');
const named = new Set(keys.map(({ what }) => what));
const real = new Set(keysOf(sections).map(({ path }) => path.join('.')));
for (const name of real)
  if (!named.has(name))
    faults.push(
      `${name}: a configuration key without a row in test/requirements/keys.json: name the test of its effect`,
    );
for (const name of named) if (!real.has(name)) faults.push(`${name}: no such configuration key`);

/** Paths of the tests by their base names. */
const testsByName = new Map(
  ['config', 'control-plane', 'dns-worker', 'shared', 'test'].flatMap((room) =>
    readdirSync(room, { recursive: true })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => [basename(name), join(room, name)]),
  ),
);

/** Titles of the tests of a file. */
const titlesOf = memo((file) => {
  const titles = new Set();
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    if (
      ts.isCallExpression(node) &&
      node.arguments.length >= 2 &&
      /^(test|it)\b/.test(node.expression.getText())
    )
      if (ts.isStringLiteralLike(node.arguments[0])) titles.add(node.arguments[0].text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
});

function memo(make) {
  const made = new Map();
  return (key) => made.get(key) ?? made.set(key, make(key)).get(key);
}

/** Rows of the failure table, one for each test of a row: its file by its base name, a colon, its title. */
function failures() {
  const paper = readFileSync('ARCHITECTURE.md', 'utf8');
  const section = paper.slice(paper.indexOf('\n## 7. '), paper.indexOf('\n## 8. '));
  const [, , ...lines] = section.split('\n').filter((line) => line.startsWith('|'));
  const known = new Set();
  return lines.flatMap((line) => {
    const [what, , shown = ''] = line.slice(2, -2).split(' | ');
    if (known.has(what)) faults.push(`ARCHITECTURE.md: two rows for "${what}"`);
    known.add(what);
    return shown.split('<br>').flatMap((test) => {
      const [, name, title] = /^`(\S+)`: (.+)$/.exec(test) ?? [];
      if (name !== undefined) return [{ what, file: testsByName.get(name) ?? name, title }];
      faults.push(`ARCHITECTURE.md: "${what}" names no test, as \`name.test.ts\`: title`);
      return [];
    });
  });
}

const tables = {
  Endpoints: endpoints,
  'Configuration keys': keys,
  Rules: read('rules'),
  Hardening: read('hardening'),
  Failures: failures(),
};
const reasonOf = ({ missing, notApplicable }) =>
  missing === undefined ? notApplicable && `not applicable: ${notApplicable}` : `missing: ${missing}`;

for (const row of Object.values(tables).flat()) {
  if (reasonOf(row) !== undefined) continue;
  const { what, file, title } = row;
  if (!existsSync(file)) faults.push(`${what}: no such file ${file}`);
  else if (!titlesOf(file).has(title)) faults.push(`${what}: ${file} has no test "${title}"`);
}

if (!process.argv.includes('--check'))
  for (const [name, rows] of Object.entries(tables)) {
    const missing = rows.filter((row) => row.missing !== undefined).length;
    const besides = rows.filter((row) => row.notApplicable !== undefined).length;
    const covered = rows.length - missing - besides;
    console.log(
      `\n## ${name}: ${covered} of ${rows.length} covered, ${besides} not applicable, ${missing} missing\n`,
    );
    for (const row of rows) console.log(`${row.what} | ${reasonOf(row) ?? `${row.file}: ${row.title}`}`);
  }
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
