/** Stored inputs: a corpus file and a file of findings for each target, with one base64 input per line. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Largest corpus file, bytes. */
const MAX_FILE_SIZE = 100_000;

/** Inputs, by the file that stores them. */
type InputKind = 'corpus' | 'findings';

/** The inputs of a target; empty without a file. `#` starts a comment. */
export function readInputs(kept: InputKind, target: string): Uint8Array[] {
  const path = fileOf(kept, target);
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines
    .map((line) => line.replace(/#.*$/u, '').trim())
    .filter((line) => line !== '')
    .map((line) => new Uint8Array(Buffer.from(line, 'base64')));
}

/** Writes the corpus of a target: as many of `inputs` as fit, the smallest first. */
export function writeCorpus(target: string, inputs: readonly Uint8Array[]): void {
  const lines: string[] = [];
  let size = 0;
  for (const input of inputs.toSorted((a, b) => a.length - b.length || Buffer.compare(a, b))) {
    const line = Buffer.from(input).toString('base64');
    size += line.length + 1;
    if (size > MAX_FILE_SIZE) break;
    if (line !== '') lines.push(line);
  }
  writeFileSync(fileOf('corpus', target), `${lines.join('\n')}\n`);
}

function fileOf(kept: InputKind, target: string): string {
  return join(import.meta.dirname, kept, `${target}.txt`);
}
