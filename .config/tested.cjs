// Refuses a source file with more than 100 lines without a test next to it: `name.test.ts` or `name.<kind>.test.ts`. A
// file with only data and types has nothing to test: one function with a body makes it code. Usage: node
// .config/tested.cjs (npm run check -- tested).
const { readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const ts = require('typescript');

const AREAS = ['config', 'control-plane', 'dns-worker', 'shared'];
const MAX_LINES_UNTESTED = 100;

const files = AREAS.flatMap((area) => readdirSync(area, { recursive: true }).map((name) => join(area, name)));
const tests = files.filter((name) => name.endsWith('.test.ts'));
const sources = files.filter((name) => name.endsWith('.ts') && !/\.(test|d)\.ts$/.test(name));

function hasFunction(node) {
  return (
    (ts.isFunctionLike(node) && node.body !== undefined) || (ts.forEachChild(node, hasFunction) ?? false)
  );
}

function needsTest(file) {
  const text = readFileSync(file, 'utf8');
  if (text.split('\n').length - 1 <= MAX_LINES_UNTESTED) return false;
  const stem = file.replace(/ts$/, '');
  if (tests.some((test) => test.startsWith(stem))) return false;
  return hasFunction(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
}

const faults = sources.filter(needsTest).map((file) => `${file} has no test beside it`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
