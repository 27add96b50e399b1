// Keeps directories small and imports one-way: refuses a directory with more than 20 source files, and directories that
// import each other, directly or in a longer cycle, at any level. Level 2 compares `control-plane/policy` with
// `control-plane/web`, each including its subdirectories; level 3 `control-plane/policy/change` with its siblings; and
// so on. Takes the report of dependency-cruiser. Tests are not counted.
const { readFileSync } = require('node:fs');
const { dirname } = require('node:path');

const MAX_FILES = 20;
const TEST = /(\.test\.ts$|^test\/)/;
const OUTSIDE = /node_modules|\.json$/;
const { modules } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const faults = [];

const sources = modules.filter(
  ({ source, coreModule }) => !coreModule && !TEST.test(source) && !OUTSIDE.test(source),
);
const imports = sources.flatMap(({ source, dependencies }) =>
  dependencies
    .filter(({ resolved, coreModule }) => !coreModule && !OUTSIDE.test(resolved))
    .map(({ resolved }) => ({ source, resolved })),
);

const files = new Map();
for (const { source } of sources) files.set(dirname(source), (files.get(dirname(source)) ?? 0) + 1);
for (const [directory, count] of files)
  if (count > MAX_FILES) faults.push(`${directory} has ${count} files; at most ${MAX_FILES} are allowed`);

/** The directory of a file, truncated to its first `level` names. */
const cut = (file, level) => dirname(file).split('/').slice(0, level).join('/');
const depth = Math.max(...[...files.keys()].map((directory) => directory.split('/').length));
for (let level = 1; level <= depth; level++) findCycles(level);

/** Adds a fault for each pair of directories in a cycle when all paths are truncated at this level. */
function findCycles(level) {
  const reaches = new Map();
  for (const { source, resolved } of imports) {
    const [from, to] = [cut(source, level), cut(resolved, level)];
    if (from === to) continue;
    const ofFrom = reaches.get(from) ?? reaches.set(from, new Map()).get(from);
    ofFrom.set(to, [...(ofFrom.get(to) ?? []), `${source} imports ${resolved}`]);
  }
  // A directory that imports none of the remaining ones, or is imported by none of them, is not part of a cycle.
  const left = new Set([...reaches].flatMap(([from, ofFrom]) => [from, ...ofFrom.keys()]));
  const importsOne = (from) => [...(reaches.get(from)?.keys() ?? [])].some((to) => left.has(to));
  const isImported = (to) => [...left].some((from) => reaches.get(from)?.has(to));
  for (let before = -1; before !== left.size;) {
    before = left.size;
    for (const directory of left)
      if (!importsOne(directory) || !isImported(directory)) left.delete(directory);
  }
  for (const from of left)
    for (const [to, lines] of reaches.get(from))
      if (left.has(to))
        faults.push(`${from} and ${to} are in a cycle of directories:\n  ${lines.join('\n  ')}`);
}

for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
