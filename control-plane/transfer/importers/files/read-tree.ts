/**
 * Reads untrusted YAML and JSON within limits; errors never quote the file, which may contain passwords. Only this file
 * imports the package yaml.
 */
import { parseDocument } from 'yaml';
import { ForeignTree } from './foreign-tree.ts';
import { importFault, ImportFault } from './import-fault.ts';
import { decodeText } from './decode-text.ts';

/** Maximum length of the text: 100,000 rules of 80 characters. */
const MAX_TEXT_LENGTH = 8_000_000;
/** Maximum number of aliases; they multiply the content of a text, and usually there are only a few. */
const MAX_ALIASES = 100;
/** Maximum number of values; the values of an alias count each time the alias is used. */
const MAX_VALUES = 1_000_000;
const MAX_DEPTH = 64;

/** The values of a YAML file; throws an ImportFault. */
export function readYaml(name: string, content: Uint8Array): ForeignTree {
  const text = boundedText(name, content);
  try {
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent', merge: true });
    const [fault] = document.errors;
    if (fault !== undefined)
      throw importFault('file_not_yaml', {
        file: name,
        line: lineAt(text, fault.pos[0]),
        reason: fault.code,
      });
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    refuseLarge(name, value);
    return new ForeignTree(value);
  } catch (error) {
    if (error instanceof ImportFault) throw error;
    // The parser throws for too many aliases, undefined aliases, and brackets that are nested too deeply.
    throw importFault('file_odd_yaml', { file: name });
  }
}

/** The values of a JSON file; throws an ImportFault. */
export function readJson(name: string, content: Uint8Array): ForeignTree {
  return new ForeignTree(parseJson(name, content));
}

/** The parsed value of a JSON file; throws an ImportFault. */
export function parseJson(name: string, content: Uint8Array): unknown {
  const text = boundedText(name, content);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw importFault('file_not_json', { file: name });
  }
  refuseLarge(name, value);
  return value;
}

function boundedText(name: string, content: Uint8Array): string {
  if (content.length > MAX_TEXT_LENGTH) throw importFault('file_large', { file: name });
  return decodeText(content);
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

/** Throws if there are too many values or levels: a value that contains itself is infinitely deep. */
function refuseLarge(name: string, root: unknown): void {
  let left = MAX_VALUES;
  const visit = (value: unknown, depth: number): void => {
    if (--left < 0) throw importFault('file_values', { file: name });
    if (typeof value !== 'object' || value === null) return;
    if (depth >= MAX_DEPTH) throw importFault('file_levels', { file: name });
    for (const inner of Object.values(value)) visit(inner, depth + 1);
  };
  visit(root, 0);
}
