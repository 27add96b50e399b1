// Checks the text of the whole tree against docs/style.md: comments, string literals, documents and the English catalogue;
// and the subjects of the commits since BASE (style-rules.js). Text in backticks is a quotation.
// Usage: node .config/style.js [BASE] (npm run check -- style).
import { spawnSync } from 'node:child_process';
import { lstatSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import ts from 'typescript';
import { BASE, EXCLUDED, RULES, UI_RULES } from './style-rules.js';

const SUBJECT = /^[\w.][\w./-]*(, [\w./-]+)*: [^\sA-Z].*[^.]$/;
const MAX_SUBJECT_LENGTH = 72;
const CATALOGUE = /(^|\/)i18n\/en\.json$/;
const SQL =
  /^\s*(ALTER|ANALYZE|BEGIN|COPY|CREATE|DELETE|DROP|GRANT|INSERT|LOCK|SELECT|SET|TRUNCATE|UPDATE|WITH)\b/;
const WORDS = /[a-z]{2,}[,;:]?\s+[a-z]/i;
/** Replaces everything that is not text, so that no phrase matches across code. */
const CODE = '\0';

/** Functions that extract the text of a file, by extension; other files are not checked. */
const EXTRACTORS = {
  ...Object.fromEntries(['.ts', '.tsx', '.js', '.cjs'].map((extension) => [extension, textOfCode])),
  ...Object.fromEntries(['.md', '.8'].map((extension) => [extension, textOfDocument])),
  ...Object.fromEntries(
    ['.css', '.c', '.h'].map((extension) => [extension, keeper(/\/\*.*?\*\/|\/\/ .*?$/gms)]),
  ),
  ...Object.fromEntries(
    ['', '.yaml', '.yml', '.toml', '.sh', '.service', '.conf', '.py'].map((extension) => [
      extension,
      keeper(/(?<=^|\s)# .*$/gm),
    ]),
  ),
  '.sql': keeper(/(?<=^|\s)-- .*$/gm),
  '.json': keeper(/(?<=": ").*(?="|$)/gm),
};

function git(...args) {
  const { status, stdout } = spawnSync('git', ['-c', 'core.quotePath=off', ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  return status === 0 ? stdout : null;
}

/** Replaces all characters except white space. */
function blank(text, replacement) {
  return text.replace(/\S/g, replacement);
}

/** Returns a function that keeps the text that the pattern matches at its offset, and blanks everything else. */
function keeper(pattern) {
  return (text) => {
    let kept = '';
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      kept += blank(text.slice(end, match.index), CODE) + withoutMarkers(match[0]);
      end = match.index + match[0].length;
    }
    return kept + blank(text.slice(end), CODE);
  };
}

/** Comments without their comment markers; each block comment is a separate text. */
function withoutMarkers(comment) {
  return comment
    .replace(/\/\*+(?!\/)/g, (marker) => CODE.padEnd(marker.length))
    .replace(/\/\/+|\*+\/|^\s*[*#]+(?=\s)/gm, (marker) => blank(marker, ' '));
}

/** Titles of tests are checked in the tests, not in documents that cite them. */
function textOfDocument(text) {
  const samples = /^ *(```|~~~).*?^ *\1|`[\w.-]+\.test\.ts`: [^|<\n]*/gms;
  return text.replace(samples, (sample) => blank(sample, CODE));
}

function textOfCode(text, file) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  let kept = '';
  const visit = (node) => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    if (children.length > 0) return children.forEach(visit);
    const start = node.getStart(source);
    kept += withoutMarkers(text.slice(node.pos, start)) + textOfToken(node, text.slice(start, node.end));
  };
  visit(source);
  return kept;
}

/** A sentence that is split with `+` counts as one text. */
function textOfToken(node, text) {
  if (node.kind === ts.SyntaxKind.PlusToken) return ' ';
  if (ts.isJsxText(node)) return text;
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateHead(node) && !ts.isTemplateMiddleOrTemplateTail(node))
    return blank(text, CODE);
  const head = ts.isTemplateMiddleOrTemplateTail(node) ? node.parent.parent.head : node;
  if (SQL.test(head.text) || !(WORDS.test(text) || ts.isTemplateMiddleOrTemplateTail(node)))
    return blank(text, CODE);
  return text.replace(/^['"`}]|['"`]$|\$\{$/g, (quotes) => blank(quotes, ' ')).replace(/\\n/g, '  ');
}

/** Files of the tree, committed or not. */
function filesOfTree() {
  const names = git('ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0').slice(0, -1);
  return names.filter((name) => lstatSync(name, { throwIfNoEntry: false })?.isFile());
}

/** Faults in a text: [offset, message]. */
function faultsIn(text, rules) {
  return rules.flatMap(([pattern, use, allowed]) =>
    [...text.matchAll(pattern)]
      .filter(
        ({ index, 0: found }) =>
          !allowed?.test(text.slice(Math.max(0, index - 200), index + found.length + 200)),
      )
      .map(({ index, 0: found }) => {
        const quoted = found.replaceAll(CODE, '').replace(/\s+/g, ' ').trim();
        return [index, `use ${use} instead of "${quoted}"`];
      }),
  );
}

function faultsOfFile(file) {
  const extract = EXTRACTORS[extname(file)];
  if (extract === undefined || EXCLUDED.test(file) || (file.endsWith('.json') && !CATALOGUE.test(file)))
    return [];
  const text = extract(readFileSync(file, 'utf8'), file).replace(/`[^`\n]*`/g, (quoted) =>
    blank(quoted, 'x'),
  );
  const rules = CATALOGUE.test(file) ? [...RULES, ...UI_RULES] : RULES;
  const faults = faultsIn(text, rules).sort(([one], [other]) => one - other);
  return faults.map(([offset, message]) => `${file}:${text.slice(0, offset).split('\n').length}: ${message}`);
}

function faultsOfCommit(commit) {
  const [hash, subject] = commit.split('\t');
  const faults = faultsIn(subject, RULES).map(([, message]) => message);
  if (subject.length > MAX_SUBJECT_LENGTH) faults.push(`use at most ${MAX_SUBJECT_LENGTH} characters`);
  if (!SUBJECT.test(subject)) faults.push('use the form "area: subject", in lower case, without a full stop');
  return faults.map((fault) => `commit ${hash} "${subject}": ${fault}`);
}

const base = process.argv[2] ?? BASE;
if (git('cat-file', '-e', `${base}^{commit}`) === null) {
  console.error(
    `style: not checked: git or commit ${base} is missing; it needs a clone with the whole history`,
  );
  process.exit(0);
}
const commits = git('log', '--no-merges', '--format=%h%x09%s', `${base}..HEAD`).split('\n').filter(Boolean);
const faults = [...filesOfTree().flatMap(faultsOfFile), ...commits.flatMap(faultsOfCommit)];
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`${faults.length} faults of style: docs/style.md explains them`);
  process.exit(1);
}
