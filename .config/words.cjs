// Checks comments, papers and the titles of tests: every file or folder that comments and papers cite exists,
// ARCHITECTURE.md names every folder of the product, and the words below are absent. Each file of code has a base name
// of its own, by which it can be cited. Usage: node .config/words.cjs (npm run words). Other code is not checked.
const { readFileSync, readdirSync } = require('node:fs');
const { basename, dirname, join, normalize } = require('node:path');
const ts = require('typescript');

const SKIPPED = new Set(['.git', 'node_modules', 'data', 'dist']);
/** Words to avoid. A term between backticks is a name and passes. */
const REFUSED = [
  /\bnobody\b(?!\.invalid)/i,
  /\banew\b/i,
  /\bto be had\b/i,
  /\bof then\b/i,
  /\b(is|was|are|were) none of\b/i,
  /\bwas none\b/i,
  /\bsee above\b/i,
];
const ROOTS = 'control-plane|dns-worker|shared|config|test|deploy|migrations|\\.config|\\.ci';
const PROSE = /\.(ts|cjs|js|sql|md|toml|service)$/;
const CODE = /\.(ts|tsx|cjs|js)$/;
const PRODUCT = /^(control-plane|dns-worker|shared|config)\/.*\.ts$/;
const TITLED = new Set(['test', 'it', 'describe']);
/** A path to a file, a file name, or a folder from the root on; not part of a URL, an absolute path or a pattern. */
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

/** The folders above a path, innermost first. */
function folders(path) {
  const parent = dirname(path);
  return parent === '.' ? [] : [parent, ...folders(parent)];
}

/** Lines that hold prose: [line number, text]. Of code only its comments. */
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

/** Titles of tests and of groups of them: [line number, text]. */
function titles(file) {
  const text = readFileSync(file, 'utf8');
  if (!REFUSED.some((term) => term.test(text))) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && TITLED.has(rootOf(node.expression)) && node.arguments.length >= 2) {
      const [title] = node.arguments;
      const line = source.getLineAndCharacterOfPosition(title.getStart()).line + 1;
      if (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))
        found.push([line, title.getText()]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The name that a call starts with: `test` of `test.each(cases)(title, run)`. */
function rootOf(callee) {
  if (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) return rootOf(callee.expression);
  return callee.getText();
}

/** Whether a citation in `file` leads to one file or folder: from the root, from a folder above, or by its end. */
function resolves(cited, file) {
  const path = cited.replace(/[./]+$/, '');
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
    refuseWords(file, line, text.replace(/`[^`]*`/g, ''));
  }
  if (file.endsWith('.test.ts')) for (const [line, title] of titles(file)) refuseWords(file, line, title);
}

for (const [name, [file, ...others]] of byBasename)
  if (CODE.test(name) && others.length > 0)
    report(file, 1, `the base name is that of ${others.join(', ')}, too`);

const map = readFileSync('ARCHITECTURE.md', 'utf8');
/** Folders of the code map. */
const rooms = [...map.matchAll(/^\| (`[\w.-]+\/.*?`) \|/gm)].flatMap(([, cell]) => cell.split(', '));
for (const room of rooms)
  if (rooms.indexOf(room) !== rooms.lastIndexOf(room)) report('ARCHITECTURE.md', 1, `two rows for ${room}`);
for (const room of new Set(files.filter((file) => PRODUCT.test(file)).map((file) => dirname(file)))) {
  if (!map.includes(`\`${room}/\``)) report('ARCHITECTURE.md', 1, `the code map lacks ${room}/`);
}

function refuseWords(file, line, text) {
  for (const term of REFUSED.flatMap((each) => each.exec(text)?.[0] ?? []))
    report(file, line, `use plainer words than "${term}"`);
}

function report(file, line, fault) {
  found++;
  console.error(`${file}:${line}: ${fault}`);
}

if (found > 0) {
  console.error(`${found} faults in comments, papers and titles of tests`);
  process.exit(1);
}
