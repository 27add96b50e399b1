// Checks that every file or directory cited in comments and documents exists, and every npm script named in texts, and
// that each source file has a unique base name, by which it can be cited. Usage: node .config/cited.cjs (npm run check
// -- cited).
const { readFileSync, readdirSync } = require('node:fs');
const { basename, dirname, join, normalize } = require('node:path');
const { CHECKS } = require('./check.js');
const { PROGRAMS } = require('./program.js');
const { scripts } = require('../package.json');

const SKIPPED = new Set(['.git', 'node_modules', 'data', 'dist']);
const ROOTS = 'control-plane|dns-worker|shared|config|test|deploy|migrations|\\.config|\\.ci';
const PROSE = /\.(ts|cjs|js|sql|md|toml|service)$/;
const CODE = /\.(ts|tsx|cjs|js)$/;
/**
 * A path to a file, a file name, or a directory relative to the root; not part of a URL, an absolute path or a pattern.
 */
const CITED = new RegExp(
  `(?<![\\w/.*<>{}@:$-])((?:[\\w.-]+/)*[a-z0-9][\\w.-]*\\.(?:ts|cjs|js|sql|md|toml|service)\\b(?![\\w*<{-])` +
    `|(?:${ROOTS})/[\\w./-]*(?![\\w*<{-]))`,
  'g',
);

const files = readdirSync('.', { withFileTypes: true }).flatMap((entry) =>
  below(entry.name, entry.isDirectory()),
);
const byBasename = new Map();
for (const file of files) byBasename.set(basename(file), [...(byBasename.get(basename(file)) ?? []), file]);
const paths = new Set(files.flatMap((file) => [file, ...folders(file)]));

/** All files at and below a path, as paths from the root. */
function below(path, isFolder) {
  if (SKIPPED.has(basename(path))) return [];
  if (!isFolder) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    below(join(path, entry.name), entry.isDirectory()),
  );
}

/** The parent directories of a path, innermost first. */
function folders(path) {
  const parent = dirname(path);
  return parent === '.' ? [] : [parent, ...folders(parent)];
}

/** Lines that contain prose: [line number, text]. In code only its comments. */
function prose(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  if (/\.(md|toml|service)$/.test(file)) return lines.map((text, index) => [index + 1, text]);
  let inBlock = false;
  return lines.flatMap((text, index) => {
    const opens = /^\s*\/\*/.test(text);
    const isBlock = inBlock || opens;
    if (opens) inBlock = true;
    if (text.includes('*/')) inBlock = false;
    if (isBlock) return [[index + 1, text]];
    const comment = (file.endsWith('.sql') ? /(?:^|\s)--(\s.*)/ : /(?:^|\s)\/\/(\s.*)/).exec(text);
    return comment === null ? [] : [[index + 1, comment[1]]];
  });
}

/** Files of other programs. */
const FOREIGN = ['pihole.toml'];

/**
 * Whether a citation in `file` resolves to one file or directory: relative to the root, relative to a parent directory,
 * or by its end.
 */
function resolves(cited, file) {
  const path = cited.replace(/[./]+$/, '');
  if (FOREIGN.includes(path)) return true;
  if ([...folders(file), '.'].some((folder) => paths.has(normalize(join(folder, path))))) return true;
  const ends = (byBasename.get(basename(path)) ?? []).filter((candidate) =>
    `/${candidate}`.endsWith(`/${path}`),
  );
  return ends.length === 1;
}

let found = 0;
for (const file of files.filter((name) => PROSE.test(name))) {
  for (const [line, text] of prose(file)) {
    const missing = [...text.matchAll(CITED)]
      .map(([cited]) => cited)
      .filter((cited) => !resolves(cited, file));
    for (const cited of missing) report(file, line, `no such file or folder, or several: ${cited}`);
  }
}

for (const [name, [file, ...others]] of byBasename)
  if (CODE.test(name) && others.length > 0) report(file, 1, `same base name as ${others.join(', ')}`);

/** `npm run NAME -- WORD WORD`, possibly over two lines of a comment. */
const NPM_RUN = /npm[\s*/#]+run (?:--silent )?([a-z][\w-]*)((?: --)?(?: [a-z][\w-]*)*)/g;
const TEXTS = /(?:\.(?:ts|tsx|js|cjs|md|toml|service|yaml|css)|(?:^|\/)[\w-]+)$/;

for (const file of files.filter((name) => TEXTS.test(name))) {
  const text = readFileSync(file, 'utf8');
  for (const { 0: command, 1: name, 2: rest, index } of text.matchAll(NPM_RUN)) {
    const words = rest.startsWith(' -- ') ? rest.slice(' -- '.length).split(' ') : [];
    if (isCommand(name, words)) continue;
    report(file, text.slice(0, index).split('\n').length, `no such npm script or program: ${command}`);
  }
}

/** Whether this script exists, and its checks or programs. Targets of `fuzz` are checked when it runs. */
function isCommand(name, words) {
  if (scripts[name] === undefined) return false;
  if (name === 'check') return words.every((word) => CHECKS[word] !== undefined);
  const programs = PROGRAMS[name];
  return programs === undefined || name === 'fuzz' || words.length === 0 || programs[words[0]] !== undefined;
}

for (const word of Object.values(PROGRAMS).flatMap((programs) =>
  Object.values(programs).join(' ').split(' '),
))
  if (/^[\w.-]+\/[\w./-]+$/.test(word) && !word.startsWith('node_modules/') && !paths.has(word))
    report('.config/program.js', 1, `no such program: ${word}`);

function report(file, line, fault) {
  found++;
  console.error(`${file}:${line}: ${fault}`);
}

if (found > 0) {
  console.error(`${found} wrong citations`);
  process.exit(1);
}
