// Compares `shared/api/client/operations.ts`, the API types of the typed client, with the route table: in both
// directions, and by the schemas of each route. Usage: node .config/operations.js [--write] (npm run check --
// operations). The order of lines is ignored, so that branches that add routes can be merged.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { everyOperation } from '../test/support/parts/every-route.ts';

const FILE = 'shared/api/client/operations.ts';
/** Files whose schemas the operations file does not use: the client itself, and the schemas of Pi-hole's API. */
const UNUSED = ['shared/api/client/**', 'shared/api/compat/**'];
const PARTS = ['params', 'query', 'body', 'answer', 'events'];

/** The name of a schema in the generated file, by the schema. */
const names = new Map();
const imports = [];
for (const file of globSync('shared/api/**/*.ts', { exclude: UNUSED }).sort()) {
  if (/\.test\.ts$/.test(file)) continue;
  const schemaFile = basename(file, '.ts').replace(/-api$/, '');
  const alias = schemaFile.replaceAll(/-(\w)/g, (_all, letter) => letter.toUpperCase());
  let isUsed = false;
  for (const [name, value] of Object.entries(await import(`../${file}`)).sort()) {
    if (typeof value?.safeParse !== 'function' || names.has(value)) continue;
    names.set(value, `typeof ${alias}.${name}`);
    isUsed = true;
  }
  if (isUsed)
    imports.push([alias, `import type * as ${alias} from '../${file.slice('shared/api/'.length)}';`]);
}

const faults = [];
const lines = everyOperation.map(describe);

function describe(route) {
  const operation = `${route.method} ${route.path}`;
  const fields = PARTS.filter((part) => route[part] !== undefined).map((part) => {
    const name = names.get(route[part]);
    if (name === undefined) faults.push(`${operation}: its ${part} is not an exported schema of shared/api`);
    return `${part}: ${name}`;
  });
  if (route.body !== undefined && route.bodyType !== 'application/json')
    fields.push(`form: '${route.bodyType}'`);
  if (route.uploadLimitBytes !== undefined) fields.push(`upload: '${route.bodyType}'`);
  const raw = route.events === undefined ? route.media : ['text/event-stream'];
  if (raw.length > 0) fields.push(`raw: ${raw.map((type) => `'${type}'`).join(' | ')}`);
  return `  '${operation}': { ${fields.join('; ')} };`.replace('{  }', 'object');
}

const uses = (alias) => lines.some((line) => line.includes(` ${alias}.`));
const text = `/**
 * The operations of the API, by method and path, with the schemas of their requests and responses. Types only, for
 * \`typed-client.ts\`. Generated from the table of routes by \`npm run check -- operations --write\`; do not edit.
 */
${imports
  .filter(([alias]) => uses(alias))
  .map(([, line]) => line)
  .join('\n')}

export interface Operations {
${lines.join('\n')}
}
`;

const sorted = (content) => content.split('\n').sort().join('\n');
if (process.argv.includes('--write')) writeFileSync(FILE, text);
else if (sorted(readFileSync(FILE, 'utf8')) !== sorted(text))
  faults.push(`${FILE} differs from the table of routes: npm run check -- operations --write`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
