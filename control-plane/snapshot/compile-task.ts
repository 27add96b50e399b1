/**
 * Entry of the compile pool's thread: reads lists from disk and builds a rule table out of them. It runs at
 * the lowest priority, because answering comes first, and it holds one chunk of text at a time.
 */
import { setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { readList } from '../lists/read-list.ts';
import type { ListStatistics } from '../lists/list-statistics.ts';
import type { CompileJob, CompileOutcome, ListFile } from './compile-job.ts';
import { RuleTableBuilder } from './rule-table-builder.ts';

const LOWEST_PRIORITY = 19;

/** Counts what a list holds and builds nothing. */
export async function inspect(list: ListFile): Promise<ListStatistics> {
  yieldToAnswering();
  return readList(list.path, list.reading, () => undefined);
}

/** Builds one table of all lists; a list that cannot be read has its fault in the statistics. */
export async function compile(job: CompileJob): Promise<CompileOutcome> {
  yieldToAnswering();
  const builder = new RuleTableBuilder(job.seeds, job.expectedNames);
  const statistics: ListStatistics[] = [];
  for (const [index, list] of job.lists.entries()) {
    builder.beginSource(index);
    const add = (bytes: Uint8Array, start: number, end: number, kind: number): void =>
      builder.addName(bytes, start, end, kind);
    statistics.push(await readList(list.path, list.reading, add));
  }
  return { table: builder.finish(job.build), statistics };
}

/** On Linux a priority belongs to a thread, so this leaves the rest of the process as it is. */
function yieldToAnswering(): void {
  if (isMainThread || process.platform !== 'linux') return;
  setPriority(0, LOWEST_PRIORITY);
}
