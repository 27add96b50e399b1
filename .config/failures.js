// Generates docs/failures.md from test/requirements/failures.json. Without --write, only checks that the file is up to
// date. Usage: node .config/failures.js [--write]
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = 'docs/failures.md';
const failures = JSON.parse(readFileSync('test/requirements/failures.json', 'utf8'));
const expected = `# When something fails

Each row is shown by tests, which \`test/requirements/failures.json\` names. This file is generated from it.

| Failure | What Weir does |
|---|---|
${failures.map(({ failure, effect }) => `| ${failure} | ${effect} |`).join('\n')}
`;

if (process.argv.includes('--write')) writeFileSync(FILE, expected);
else if (readFileSync(FILE, 'utf8') !== expected) {
  console.error(
    `${FILE} differs from test/requirements/failures.json: run "npm run check -- failures --write"`,
  );
  process.exit(1);
}
