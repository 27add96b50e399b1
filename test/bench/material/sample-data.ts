// Real lists and a real question stream, if a folder with them is present ($WEIR_BENCH_DATA, or the sample data beside
// the checkout). Reads only the simplest list lines, hosts lines and plain names. It does not use Weir's list parser,
// because every server must get the same explicit names.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Question } from './asked-question.ts';
import { parseQuestions } from './asked-question.ts';

const QUERY_FILE = 'queries.txt.gz';
const LIST_FOLDERS = ['domains', 'hosts'];
const BLOCKING_ADDRESSES = new Set(['0.0.0.0', '127.0.0.1', '::', '::1']);
const HOST_NAME =
  /^(?=.{4,200}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)+$/;
const ADDRESS_LIKE = /^[0-9.]+$/;

/**
 * The folder with sample data, or undefined if there is none or $WEIR_BENCH_DATA is empty. Throws if $WEIR_BENCH_DATA
 * is a folder without sample data.
 */
export function findSampleData(root: string): string | undefined {
  const wanted = process.env['WEIR_BENCH_DATA'];
  if (wanted === '') return undefined;
  const folder = wanted ?? join(root, '..', 'shared', 'data');
  if (existsSync(join(folder, QUERY_FILE))) return folder;
  if (wanted !== undefined)
    throw new Error(`read WEIR_BENCH_DATA: no ${QUERY_FILE} in ${JSON.stringify(wanted)}`);
  return undefined;
}

/**
 * The names that a list line blocks, in lower case; empty for comments, hosts lines with a real address, and invalid
 * host names.
 */
export function namesOfLine(line: string): string[] {
  const words = line
    .replace(/[#!].*/, '')
    .trim()
    .toLowerCase()
    .split(/\s+/);
  const first = words[0] ?? '';
  const names = words.length > 1 ? (BLOCKING_ADDRESSES.has(first) ? words.slice(1) : []) : [first];
  return names.filter((name) => HOST_NAME.test(name) && !ADDRESS_LIKE.test(name));
}

/** Up to `max` different names of the sample lists, in file order. */
export function readSampleNames(folder: string, max: number): string[] {
  const names = new Set<string>();
  for (const file of listFilesBelow(folder)) {
    const found = readText(file).split('\n').flatMap(namesOfLine);
    for (const name of found) names.add(name);
    if (names.size >= max) break;
  }
  return [...names].slice(0, max);
}

function listFilesBelow(folder: string): string[] {
  return LIST_FOLDERS.map((kind) => join(folder, 'lists', kind))
    .filter((lists) => existsSync(lists))
    .flatMap((lists) =>
      readdirSync(lists)
        .sort()
        .map((file) => join(lists, file)),
    );
}

/** The question stream of the sample data. */
export function readSampleQuestions(folder: string): Question[] {
  return parseQuestions(readText(join(folder, QUERY_FILE)));
}

function readText(file: string): string {
  const bytes = readFileSync(file);
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
