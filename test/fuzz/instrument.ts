/**
 * Coverage counters in the product's code: a module loading hook inserts an increment at the start of each path through
 * a function (its body, branches, loops, right operands, code after an early return), before types are stripped. Line
 * numbers do not change. Must be installed before the code under test is imported.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** Maximum number of counters; the product has about 30,000 paths. */
const MAX_COUNTERS = 65_536;
const ROOT = join(import.meta.dirname, '..', '..');
const AREAS = ['config', 'shared', 'dns-worker', 'control-plane'].map((area) => join(ROOT, area) + sep);
/**
 * Maximum length of a word for the dictionary. Words in the code are what parsers look for; longer strings are
 * messages.
 */
const MAX_WORD_LENGTH = 24;

/** Data that the instrumented modules collect. */
export interface Instrumentation {
  /** Number of times that each path was taken, modulo 256. */
  readonly counters: Uint8Array;
  /** Number of counters in use. */
  used: number;
  /** String literals of the code, and numbers, except small numbers, which are common in loops. */
  readonly words: Set<string>;
  readonly numbers: Set<number>;
}

/** Instruments every product module that this thread loads from now on. */
export function instrumentProduct(): Instrumentation {
  const state: Instrumentation = {
    counters: new Uint8Array(MAX_COUNTERS),
    used: 0,
    words: new Set(),
    numbers: new Set(),
  };
  (globalThis as { weirPaths?: Uint8Array }).weirPaths = state.counters;
  registerHooks({
    load: (url, context, nextLoad) => {
      if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context);
      const path = fileURLToPath(url);
      if (!AREAS.some((area) => path.startsWith(area))) return nextLoad(url, context);
      const source = withCounters(readFileSync(path, 'utf8'), state);
      return { format: 'module', source: stripTypeScriptTypes(source), shortCircuit: true };
    },
  });
  return state;
}

/** The source with counters; adds its literals to `state`. */
export function withCounters(text: string, state: Instrumentation): string {
  const file = ts.createSourceFile('code.ts', text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const edits: { readonly at: number; readonly text: string }[] = [];
  const count = (): string => `__paths[${String(state.used++)}]++`;
  const into = (at: number): void => void edits.push({ at, text: `${count()};` });

  const wrap = (node: ts.Expression): void => {
    edits.push({ at: node.getStart(file), text: `(${count()},` });
    visit(node);
    edits.push({ at: node.end, text: ')' });
  };
  const body = (node: ts.Statement): void => {
    if (ts.isBlock(node)) into(node.getStart(file) + 1);
    else edits.push({ at: node.getStart(file), text: `{${count()};` });
    visit(node);
    if (!ts.isBlock(node)) edits.push({ at: node.end, text: '}' });
  };

  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    noteLiteral(node, state);
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) {
      node.parameters.forEach(visit);
      wrap(node.body);
    } else if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      into((node.body as ts.Block).getStart(file) + 1);
      ts.forEachChild(node, visit);
    } else if (ts.isIfStatement(node)) visitIf(node);
    else if (ts.isIterationStatement(node, false)) {
      ts.forEachChild(node, (child) => (child === node.statement ? body(node.statement) : visit(child)));
    } else if (ts.isCaseOrDefaultClause(node)) {
      if (node.statements.length > 0) into(node.statements.pos);
      ts.forEachChild(node, visit);
    } else if (ts.isConditionalExpression(node)) {
      visit(node.condition);
      wrap(node.whenTrue);
      wrap(node.whenFalse);
    } else if (ts.isBinaryExpression(node) && isShortCut(node.operatorToken.kind)) {
      visit(node.left);
      wrap(node.right);
    } else if (ts.isCatchClause(node)) {
      into(node.block.getStart(file) + 1);
      ts.forEachChild(node, visit);
    } else ts.forEachChild(node, visit);
  };
  const visitIf = (node: ts.IfStatement): void => {
    visit(node.expression);
    body(node.thenStatement);
    if (node.elseStatement !== undefined) body(node.elseStatement);
    else if (leaves(node.thenStatement) && isInList(node)) into(node.end);
  };
  visit(file);

  let at = 0;
  let out = 'const __paths = globalThis.weirPaths;';
  for (const edit of edits.map((it, index) => ({ ...it, index })).sort(inOrder)) {
    out += text.slice(at, edit.at) + edit.text;
    at = edit.at;
  }
  return out + text.slice(at);
}

function inOrder(a: { at: number; index: number }, b: { at: number; index: number }): number {
  return a.at - b.at || a.index - b.index;
}

function isShortCut(kind: ts.SyntaxKind): boolean {
  return (
    kind === ts.SyntaxKind.AmpersandAmpersandToken ||
    kind === ts.SyntaxKind.BarBarToken ||
    kind === ts.SyntaxKind.QuestionQuestionToken
  );
}

/** Whether a statement ends with a jump, so that the code after it is unreachable. */
function leaves(statement: ts.Statement): boolean {
  const last = ts.isBlock(statement) ? statement.statements.at(-1) : statement;
  return (
    last !== undefined &&
    (ts.isReturnStatement(last) || ts.isThrowStatement(last) || ts.isBreakOrContinueStatement(last))
  );
}

/** Whether a node is in a list of statements, so that a statement can be inserted after the node. */
function isInList({ parent }: ts.Node): boolean {
  return ts.isBlock(parent) || ts.isSourceFile(parent) || ts.isCaseOrDefaultClause(parent);
}

function noteLiteral(node: ts.Node, state: Instrumentation): void {
  if (ts.isStringLiteralLike(node)) {
    if (node.text.length > 0 && node.text.length <= MAX_WORD_LENGTH) state.words.add(node.text);
  } else if (ts.isNumericLiteral(node)) {
    const value = Number(node.text);
    if (Number.isSafeInteger(value) && value > 8 && value <= 0xffffffff) state.numbers.add(value);
  }
}
