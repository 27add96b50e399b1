/**
 * The mutants of a source file: changes that its tests should detect. Works on syntax without types, so a mutant that
 * tsc would reject also counts. Leaves out code that no test should check: types, imports, texts of errors and log
 * lines, the numbers in tables of codes, and constants of a module (`const LIMIT = 300`).
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import ts from 'typescript';

export type MutationKind =
  | 'boundary'
  | 'condition'
  | 'comparison'
  | 'logic'
  | 'arithmetic'
  | 'literal'
  | 'removed call'
  | 'returned value';

export interface Mutant {
  /** Relative to the root, with slashes. */
  readonly file: string;
  /** Line number, from 1. */
  readonly line: number;
  readonly kind: MutationKind;
  /** Offsets in the file of the text that `replacement` replaces. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

type Change = Pick<Mutant, 'kind' | 'start' | 'end' | 'replacement'>;

const OPERATORS: Readonly<Record<string, readonly [MutationKind, string]>> = {
  '<': ['boundary', '<='],
  '<=': ['boundary', '<'],
  '>': ['boundary', '>='],
  '>=': ['boundary', '>'],
  '===': ['comparison', '!=='],
  '!==': ['comparison', '==='],
  '&&': ['logic', '||'],
  '||': ['logic', '&&'],
  '+': ['arithmetic', '-'],
  '-': ['arithmetic', '+'],
  '*': ['arithmetic', '/'],
  '/': ['arithmetic', '*'],
  '%': ['arithmetic', '*'],
  '<<': ['arithmetic', '>>'],
  '>>': ['arithmetic', '<<'],
  '>>>': ['arithmetic', '<<'],
  '&': ['arithmetic', '|'],
  '|': ['arithmetic', '&'],
  '^': ['arithmetic', '&'],
  '+=': ['arithmetic', '-='],
  '-=': ['arithmetic', '+='],
  '|=': ['arithmetic', '&='],
  '&=': ['arithmetic', '|='],
  '++': ['arithmetic', '--'],
  '--': ['arithmetic', '++'],
};

/** All mutants of `text`, ordered by position. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Mutant[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || isBeyondTests(node, source)) return;
    for (const change of changesOf(node, source)) {
      const line = source.getLineAndCharacterOfPosition(change.start).line + 1;
      found.push({ file, line, ...change });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.sort((a, b) => a.start - b.start);
}

/** The text of the file with the mutant applied. */
export function mutated(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/**
 * Draws `count` of the mutants. The rank of a mutant depends only on the seed, the name of its file, and the mutant
 * itself, so that other changes of the directory or file do not change which mutants are drawn.
 */
export function draw(texts: ReadonlyMap<string, string>, count: number, seed: number): Mutant[] {
  const lots: { lot: string; mutant: Mutant }[] = [];
  for (const [file, text] of texts) {
    const times = new Map<string, number>();
    for (const mutant of mutantsOf(file, text)) {
      const what = `${mutant.kind}|${lineAround(text, mutant)}|${mutant.replacement}`;
      const time = (times.get(what) ?? 0) + 1;
      times.set(what, time);
      const lot = createHash('sha256')
        .update(`${seed}|${basename(file)}|${what}|${time}`)
        .digest('hex');
      lots.push({ lot, mutant });
    }
  }
  lots.sort((a, b) => (a.lot < b.lot ? -1 : 1));
  return lots
    .slice(0, count)
    .map(({ mutant }) => mutant)
    .sort((a, b) => (a.file === b.file ? a.start - b.start : a.file < b.file ? -1 : 1));
}

/** The mutant as two lines, before and after; more lines if the mutant replaces more than one line. */
export function shown(text: string, mutant: Mutant): string {
  const from = text.lastIndexOf('\n', mutant.start - 1) + 1;
  const after = mutated(text, mutant);
  const lines = (whole: string, last: number): string => {
    const to = whole.indexOf('\n', last);
    return whole.slice(from, to < 0 ? whole.length : to);
  };
  const signed = (sign: string, part: string): string =>
    part
      .split('\n')
      .map((line) => `    ${sign} ${line.trim()}`)
      .join('\n');
  const before = lines(text, mutant.end);
  return `${signed('-', before)}\n${signed('+', lines(after, mutant.start + mutant.replacement.length))}`;
}

function lineAround(text: string, { start }: Mutant): string {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const to = text.indexOf('\n', start);
  return text.slice(from, to < 0 ? text.length : to).trim();
}

function changesOf(node: ts.Node, source: ts.SourceFile): Change[] {
  if (ts.isBinaryExpression(node)) return operatorChanges(node, source);
  if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) return stepChanges(node, source);
  if (ts.isIfStatement(node)) return negated(node.expression, source);
  if (ts.isConditionalExpression(node)) return negated(node.condition, source);
  if (ts.isReturnStatement(node)) return returnChanges(node, source);
  if (ts.isExpressionStatement(node)) return callChanges(node, source);
  return literalChanges(node, source);
}

function operatorChanges(
  { left, operatorToken: token, right }: ts.BinaryExpression,
  source: ts.SourceFile,
): Change[] {
  const text = token.getText(source);
  const change = OPERATORS[text];
  if (change === undefined) return [];
  // Strings have no subtraction.
  if (text === '+' && [left, right].some(isText)) return [];
  return [over(token, source, change[0], change[1])];
}

function isText(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function stepChanges(
  node: ts.PrefixUnaryExpression | ts.PostfixUnaryExpression,
  source: ts.SourceFile,
): Change[] {
  const sign = ts.tokenToString(node.operator) ?? '';
  if (sign !== '++' && sign !== '--') return [];
  const other = sign === '++' ? '--' : '++';
  const operand = node.operand.getText(source);
  return [
    over(node, source, 'arithmetic', ts.isPrefixUnaryExpression(node) ? other + operand : operand + other),
  ];
}

/** The negated condition, unless another mutant already inverts its top-level operator. */
function negated(condition: ts.Expression, source: ts.SourceFile): Change[] {
  if (ts.isBinaryExpression(condition) && condition.operatorToken.getText(source) in OPERATORS) {
    const kind = OPERATORS[condition.operatorToken.getText(source)]![0];
    if (kind === 'comparison') return [];
  }
  return [over(condition, source, 'condition', `!(${condition.getText(source)})`)];
}

function returnChanges({ expression }: ts.ReturnStatement, source: ts.SourceFile): Change[] {
  if (expression === undefined) return [];
  const text = expression.getText(source);
  // Literals have their own mutants; null and undefined hardly differ from the mutant, which returns undefined.
  if (text === 'null' || text === 'undefined' || ts.isLiteralExpression(expression)) return [];
  if (isBoolean(expression) || text === 'true' || text === 'false') return [];
  return [over(expression, source, 'returned value', 'undefined')];
}

function isBoolean(node: ts.Expression): boolean {
  return (
    ts.isBinaryExpression(node) && ['===', '!==', '<', '>', '<=', '>='].includes(node.operatorToken.getText())
  );
}

function callChanges({ expression }: ts.ExpressionStatement, source: ts.SourceFile): Change[] {
  const called = ts.isAwaitExpression(expression) ? expression.expression : expression;
  if (!ts.isCallExpression(called) || called.expression.kind === ts.SyntaxKind.SuperKeyword) return [];
  return [over(expression, source, 'removed call', 'void 0')];
}

function literalChanges(node: ts.Node, source: ts.SourceFile): Change[] {
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [over(node, source, 'literal', 'false')];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [over(node, source, 'literal', 'true')];
  if (ts.isNumericLiteral(node)) return [over(node, source, 'literal', `(${node.getText(source)} + 1)`)];
  if (!ts.isStringLiteral(node) || ts.isPropertyAssignment(node.parent)) return [];
  return [over(node, source, 'literal', node.text === '' ? "'mutated'" : "''")];
}

function over(node: ts.Node, source: ts.SourceFile, kind: MutationKind, replacement: string): Change {
  return { kind, start: node.getStart(source), end: node.end, replacement };
}

/** Whether a node is skipped, with everything in it. */
function isBeyondTests(node: ts.Node, source: ts.SourceFile): boolean {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isNewExpression(node))
    return ts.isThrowStatement(node.parent) || /Error$/.test(node.expression.getText(source));
  if (ts.isCallExpression(node)) {
    return (
      /\b(log|logger)\.\w+$/.test(node.expression.getText(source)) && !ts.isExpressionStatement(node.parent)
    );
  }
  if (ts.isAsExpression(node) && node.type.getText(source) === 'const') return true;
  return ts.isVariableDeclaration(node) && isConstantOfModule(node);
}

function isConstantOfModule(node: ts.VariableDeclaration): boolean {
  const statement = node.parent.parent;
  if (!ts.isVariableStatement(statement) || !ts.isSourceFile(statement.parent)) return false;
  const { initializer } = node;
  return (
    initializer !== undefined && !ts.isArrowFunction(initializer) && !ts.isFunctionExpression(initializer)
  );
}
