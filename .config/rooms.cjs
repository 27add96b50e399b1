// Keeps the rooms small and one-way: refuses a folder of more than 20 source files, and folders that import each other,
// directly or in a longer circle. dependency-cruiser looks at files, and at folders with all that lies below them; here
// a folder is the files that lie in it. Takes the report of dependency-cruiser. Tests are not counted.
const { readFileSync } = require('node:fs');
const { dirname } = require('node:path');

const MOST_FILES = 20;
const TEST = /(\.test\.ts$|^test\/)/;
const { modules } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const faults = [];

/** Files by room, and the imports of each room that lead to another, by that room. */
const files = new Map();
const imports = new Map();
for (const { source, dependencies, coreModule } of modules) {
  if (coreModule || TEST.test(source) || /node_modules|\.json$/.test(source)) continue;
  const from = dirname(source);
  files.set(from, (files.get(from) ?? 0) + 1);
  const ofRoom = imports.get(from) ?? imports.set(from, new Map()).get(from);
  for (const { resolved, coreModule: isOfNode } of dependencies) {
    const to = dirname(resolved);
    if (isOfNode || to === from || /node_modules|\.json$/.test(resolved)) continue;
    ofRoom.set(to, [...(ofRoom.get(to) ?? []), `${source} imports ${resolved}`]);
  }
}

for (const [room, count] of files)
  if (count > MOST_FILES) faults.push(`${room} has ${count} files, ${MOST_FILES} are the most`);

// Rooms that import none of those left are no part of a circle, nor those that none of them imports.
const left = new Set(files.keys());
const leadsOn = (room) => [...imports.get(room).keys()].some((to) => left.has(to));
const isEntered = (room) => [...left].some((from) => imports.get(from).has(room));
for (let before = -1; before !== left.size;) {
  before = left.size;
  for (const room of left) if (!leadsOn(room) || !isEntered(room)) left.delete(room);
}
for (const from of left)
  for (const [to, lines] of imports.get(from))
    if (left.has(to)) faults.push(`${from} and ${to} are in a circle of folders:\n  ${lines.join('\n  ')}`);

for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
