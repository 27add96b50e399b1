/**
 * Input of a replay and its expected result: lists, a question file, and the names that a reference blocks. This file
 * only reads the data; `comparison.ts` compares them with the result of a server.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parseQuestions } from '../bench/material/asked-question.ts';
import type { Question } from '../bench/material/asked-question.ts';

/** A list to add as a source. */
export interface ReplayedList {
  readonly name: string;
  readonly file: string;
  /** `subdomains` of the source. */
  readonly subdomains: boolean;
}

/**
 * The lists by which the sample data's `queries.blocked.tsv.gz` was made, with the names that this file uses for them.
 */
const REFERENCE_LISTS: readonly ReplayedList[] = [
  { name: 'hagezi-pro', file: 'domains/hagezi-pro-onlydomains.txt.gz', subdomains: true },
  { name: 'hagezi-gambling', file: 'domains/hagezi-gambling-onlydomains.txt.gz', subdomains: true },
  { name: 'hagezi-nsfw', file: 'domains/hagezi-nsfw-onlydomains.txt.gz', subdomains: true },
  { name: 'adguard-dns-simple', file: 'adblock/adguard-dns-filter.txt.gz', subdomains: false },
  { name: 'stevenblack-unified', file: 'hosts/stevenblack-unified.hosts.gz', subdomains: false },
];

/**
 * The lists in `folder`: those of the reference if all of them are present, otherwise every file. Files with
 * "onlydomains" in their names also block subdomains.
 */
export function listsIn(folder: string): ReplayedList[] {
  const reference = REFERENCE_LISTS.map((list) => ({ ...list, file: join(folder, list.file) }));
  if (reference.every(({ file }) => existsSync(file))) return reference;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()
    .map((name) => ({ name, file: join(folder, name), subdomains: name.includes('onlydomains') }));
}

/** The questions of a file, compressed or not. */
export function readQuestions(file: string): Question[] {
  return parseQuestions(readText(file));
}

/** Blocked names and the lists that block them: `name<TAB>list,list` a line. */
export function readExpected(file: string): Map<string, readonly string[]> {
  const expected = new Map<string, readonly string[]>();
  for (const line of readText(file).split('\n')) {
    const [name, lists] = line.split('\t');
    if (name !== undefined && name !== '' && lists !== undefined) expected.set(name, lists.split(','));
  }
  return expected;
}

/** The text of a file, compressed or not. */
export function readText(file: string): string {
  const bytes = readFileSync(file);
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
