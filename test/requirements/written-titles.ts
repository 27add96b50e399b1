/**
 * The titles of the tests in a file, as far as they are known without running it: titles of `it.each` contain
 * placeholders.
 */
import ts from 'typescript';

/** A test as written. */
interface WrittenTest {
  /** The title with its placeholders; null if it is not a constant. */
  readonly text: string | null;
  readonly hasPlaceholders: boolean;
  /** Pattern of the title of a case, and of its full title with the `describe` blocks. */
  readonly pattern: string;
  readonly fullPattern: string;
}

const PLACEHOLDER = /%(?:\d+\$)?[a-zA-Z#$]|\$[\w.#]+/g;

/** The tests of a source file. */
export function writtenTests(file: string, text: string): WrittenTest[] {
  const tests: WrittenTest[] = [];
  const visit = (node: ts.Node, around: string): void => {
    const call = readCall(node);
    let inside = around;
    if (call !== null) {
      if (call.kind === 'describe') inside = `${around}${call.pattern} `;
      else tests.push({ ...call, fullPattern: around + call.pattern });
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), '');
  return tests;
}

/** Fault of a title in a row; null if a case of the file may have it. */
export function faultOfTitle(tests: readonly WrittenTest[], title: string): string | null {
  const isTitle = (pattern: string): boolean => new RegExp(`^${pattern}$`, 's').test(title);
  const found = tests.filter(
    ({ text, pattern, fullPattern }) => text === title || isTitle(pattern) || isTitle(fullPattern),
  );
  if (found.length === 0) return 'no such test';
  const isTemplate = found.every(({ hasPlaceholders, text }) => hasPlaceholders && text === title);
  return isTemplate ? 'the title of many cases: name the cases' : null;
}

function readCall(node: ts.Node): (Omit<WrittenTest, 'fullPattern'> & { kind: string }) | null {
  if (!ts.isCallExpression(node) || node.arguments.length < 2) return null;
  const callee = node.expression.getText();
  const [, kind] = /^(describe|test|it)\b/.exec(callee) ?? [];
  if (kind === undefined) return null;
  const [title] = node.arguments;
  const isEach = ts.isCallExpression(node.expression) || ts.isTaggedTemplateExpression(node.expression);
  const patternOf = (part: string): string => (isEach ? eachPattern(part) : escaped(part));
  if (ts.isStringLiteralLike(title!)) {
    const { text } = title;
    const hasPlaceholders = isEach && text.search(PLACEHOLDER) >= 0;
    return { kind, text, hasPlaceholders, pattern: patternOf(text) };
  }
  if (!ts.isTemplateExpression(title!)) return { kind, text: null, hasPlaceholders: true, pattern: '.*' };
  const parts = [title.head.text, ...title.templateSpans.map(({ literal }) => literal.text)];
  return { kind, text: null, hasPlaceholders: true, pattern: parts.map(patternOf).join('.*') };
}

function eachPattern(text: string): string {
  const parts = text.split(PLACEHOLDER).map((part) => escaped(part.replaceAll('%%', '%')));
  return parts.join('.*');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
