// Generates the files that are derived from the keys in config/sections.ts: config/weir.toml and the dashboard's table
// of keys. Without --write, only checks that both files are up to date. Also checks that the help of each language has
// every key. Usage: node .config/config-reference.js [--write]
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { NOTES, SECTIONS, shapeOf, withoutDefault } from '../config/keys.ts';
import { keys } from '../config/sections.ts';

const LINE_WIDTH = 110;
const TOML = 'config/weir.toml';
const TABLE = 'control-plane/dashboard/src/pages/settings/keys/config-keys.json';
const HELP_FILES = 'control-plane/dashboard/src/pages/settings/keys/config-help.*.json';

const HEADER = `# The configuration of Weir: every key with its default. Generated from config/sections.ts.
#
# Lines that start with "#" and a key are defaults: remove the "#" and change the value. Lines that start with
# "# " explain. Environment variables override keys: WEIR_SERVER_WEB_PORT=8081,
# WEIR_DNS_RATE_LIMIT_ENABLED=true; lists are comma-separated, pools are JSON.
# Some keys need a restart. All others take effect at once if they are changed over the API (PATCH /config or
# "weir config set"), and when this file is reloaded ("weir config reload" or SIGHUP).
# The keys of [server] and [logging], and those marked "This node only", are read only from this file. All others
# belong to the whole cluster and are stored in its database, initially from the first file: the last edit wins, here or
# over the API, which also edits this file.
# "weir check-config" checks a file.
`;

/** The keys of a section, and the sections within it, in the order of the schema: [name, schema]. */
const keysIn = (section) => Object.entries(shapeOf(section)).filter(([, schema]) => NOTES.has(schema));
const sectionsIn = (section) => Object.entries(shapeOf(section)).filter(([, schema]) => !NOTES.has(schema));

/** Values and default of a key, as in the file and on the dashboard. */
function describeKey(schema) {
  const def = withoutDefault(schema);
  const value = defaultOf(schema);
  switch (def.type) {
    case 'boolean':
      return { kind: 'switch', value };
    case 'number':
      return { kind: 'number', value, ...rangeOf(schema) };
    case 'enum':
      return { kind: 'choice', value, choices: Object.values(def.entries) };
    case 'array':
      return { kind: withoutDefault(def.element).type === 'pipe' ? 'table' : 'list', value };
    default:
      // Several URLs are written as one text, separated by spaces.
      return { kind: 'text', value: Array.isArray(value) ? value.join(' ') : value };
  }
}

function defaultOf({ _zod: { def } }) {
  return def.defaultValue ?? (def.innerType === undefined ? undefined : defaultOf(def.innerType));
}

function rangeOf({ _zod: { def }, minValue: min, maxValue: max }) {
  return def.innerType === undefined ? { min, max } : rangeOf(def.innerType);
}

function tableRows(section, path = []) {
  const rows = keysIn(section).map(([name, schema]) => {
    const { doc: help, unit, restart, secret } = NOTES.get(schema);
    const { kind, value, choices, min, max } = describeKey(schema);
    const key = [...path, name].join('.');
    return { key, kind, help, default: value, unit, min, max, choices, restart, secret };
  });
  return [...rows, ...sectionsIn(section).flatMap(([name, inner]) => tableRows(inner, [...path, name]))];
}

function tomlOf(section, path = []) {
  const { doc } = SECTIONS.get(section);
  const head = path.length === 0 ? [] : [`\n[${path.join('.')}]\n${comment(doc)}\n`];
  return [
    ...head,
    ...keysIn(section).map(([name, schema]) => `\n${tomlOfKey(name, schema, path)}`),
    ...sectionsIn(section).map(([name, inner]) => tomlOf(inner, [...path, name])),
  ].join('');
}

function tomlOfKey(name, schema, path) {
  const { kind, value } = describeKey(schema);
  const explained = comment(explain(schema));
  if (kind !== 'table') return `${explained}\n#${name} = ${tomlValue(value)}\n`;
  const element = withoutDefault(schema).element;
  const tables = value.map((row, index) => {
    const lines = keysIn(element).flatMap(([field, inner]) => {
      // An optional field that is missing in the row is shown with its first choice.
      const written = row[field] ?? describeKey(inner).choices[0];
      return [...(index === 0 ? [comment(explain(inner))] : []), `#${field} = ${tomlValue(written)}`];
    });
    return `\n#[[${[...path, name].join('.')}]]\n${lines.join('\n')}\n`;
  });
  return `${explained}\n${comment(SECTIONS.get(element).doc)}\n${tables.join('')}`;
}

function explain(schema) {
  const { doc, unit, restart, perNode } = NOTES.get(schema);
  const { kind, choices } = describeKey(schema);
  return [
    doc,
    kind === 'choice' && `One of ${choices.map(tomlValue).join(', ')}.`,
    unit !== undefined && `Unit: ${unit}.`,
    restart === true && 'Needs a restart.',
    perNode === true && 'This node only.',
  ]
    .filter(Boolean)
    .join(' ');
}

function tomlValue(value) {
  return Array.isArray(value) ? `[${value.map(tomlValue).join(', ')}]` : JSON.stringify(value);
}

function comment(text) {
  const lines = [];
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? undefined : `${lines.at(-1)} ${word}`;
    if (longer !== undefined && longer.length <= LINE_WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`# ${word}`);
  }
  return lines.join('\n');
}

const rows = tableRows(keys);
const lines = rows.map((row) => JSON.stringify(row));
const generated = { [TOML]: HEADER + tomlOf(keys), [TABLE]: `[\n${lines.join(',\n')}\n]\n` };
for (const [file, text] of Object.entries(generated)) {
  if (process.argv.includes('--write')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${file} differs from the keys in config/: npm run check -- config --write`);
    process.exitCode = 1;
  }
}
for (const file of globSync(HELP_FILES).sort()) {
  const { help } = JSON.parse(readFileSync(file, 'utf8'));
  const names = new Set(rows.map(({ key }) => key));
  const faults = [
    ...[...names].filter((key) => !Object.hasOwn(help, key)).map((key) => `add the help of "${key}"`),
    ...Object.keys(help)
      .filter((key) => !names.has(key))
      .map((key) => `delete the help of "${key}", which is not a key`),
  ];
  for (const fault of faults) console.error(`${file}: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}
