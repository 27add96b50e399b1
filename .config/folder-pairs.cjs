// Refuses two folders that import each other, which dependency-cruiser does not see: it looks at files, and at folders
// with all that lies below them. Here a folder is the files that lie in it. Takes the report of dependency-cruiser.
// Tests import what they test, wherever that is, and are not counted.
const { readFileSync } = require('node:fs');
const { dirname } = require('node:path');

const TEST = /(\.test\.ts$|^test\/)/;
const { modules } = JSON.parse(readFileSync(process.argv[2], 'utf8'));

const imports = new Map();
for (const { source, dependencies } of modules) {
  if (TEST.test(source)) continue;
  for (const { resolved, coreModule } of dependencies) {
    if (coreModule || /node_modules|\.json$/.test(resolved)) continue;
    const from = dirname(source);
    const to = dirname(resolved);
    if (from === to) continue;
    const key = `${from} -> ${to}`;
    imports.set(key, [...(imports.get(key) ?? []), `${source} imports ${resolved}`]);
  }
}

let found = 0;
for (const [key, there] of imports) {
  const [from, to] = key.split(' -> ');
  const back = imports.get(`${to} -> ${from}`);
  if (back === undefined || from > to) continue;
  found++;
  const fewer = there.length <= back.length ? there : back;
  console.error(`${from} and ${to} import each other:\n  ${fewer.join('\n  ')}`);
}
if (found > 0) {
  console.error(`${found} pairs of folders import each other`);
  process.exit(1);
}
