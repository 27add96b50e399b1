/**
 * Entry point of the compile pool's thread: reads lists from disk and builds a rule table from them. It runs at a low
 * priority, because answering queries has priority, and keeps only one chunk of text in memory.
 */
import { getPriority, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { FOLD } from '../../../../shared/dns/name.ts';
import { PrefixLengths } from '../../../../shared/snapshot/prefix-lengths.ts';
import { NamesWriter } from './names-file.ts';
import { readList } from '../parse/read-list.ts';
import type { ListStatistics } from '../parse/list-statistics.ts';
import { WatchedNames } from './watched-names.ts';
import type {
  CompileJob,
  CompileOutcome,
  JobProgress,
  ListFile,
  ListInspection,
  ListMeasure,
} from './compile-job.ts';
import { OverlapCount, type ActiveRules } from './list-overlap.ts';
import { RuleTableBuilder } from './rule-table-builder.ts';
import { SpecialRuleCollector } from './special-rule-collector.ts';

/** Lower priority than all threads that answer queries, close to the priority of the threads that read the log. */
const NICENESS = 10;

/** Counts the rules of a list and its matches among `watch`, without building a table. */
export async function inspect({
  list,
  watch,
  progress,
}: JobProgress & {
  readonly list: ListFile;
  readonly watch: readonly string[];
}): Promise<ListInspection> {
  begin(progress);
  return inspectList(list, new WatchedNames(watch));
}

/** Like `inspect()`, but can be called in any thread. `names` must not have been used before. */
export async function inspectList(list: ListFile, names: WatchedNames): Promise<ListInspection> {
  const see = (bytes: Uint8Array, start: number, end: number, kind: number): void =>
    names.see(bytes, start, end, kind);
  const statistics = await readList(list.path, list.reading, see, names);
  names.finish();
  return {
    statistics,
    watched: names.blocked(),
    allowed: names.allowed(),
    forEveryName: names.forEveryName(),
    addressShare: statistics.addressShare + names.addressShare(),
  };
}

/** Counts the distinct rules of a list, and how many of them active lists have, without building a permanent table. */
export async function measure({
  list,
  active,
  progress,
}: JobProgress & {
  readonly list: ListFile;
  readonly active: ActiveRules;
}): Promise<ListMeasure> {
  begin(progress);
  const count = new OverlapCount(active);
  const see = (bytes: Uint8Array, start: number, end: number, kind: number): void =>
    count.see(bytes, start, end, kind);
  const statistics = await readList(list.path, list.reading, see, count);
  return { statistics, overlap: count.result() };
}

/** Builds one table from all lists; the statistics of an unreadable list contain the reason. */
export async function compile(job: CompileJob): Promise<CompileOutcome> {
  begin(job.progress);
  const builder = new RuleTableBuilder(job.seeds, job.expectedNames);
  const collector = new SpecialRuleCollector();
  const adblockSources = new Set<number>();
  const statistics: ListStatistics[] = [];
  const names = job.namesPath === undefined ? null : new NamesWriter(job.namesPath);
  const add = (bytes: Uint8Array, start: number, end: number, kind: number): void => {
    const before = builder.addName(bytes, start, end, kind);
    names?.add(bytes, start, end, before, kind);
  };
  for (const [index, list] of job.lists.entries()) {
    Atomics.store(job.progress, 0, index + 1);
    builder.beginSource(index);
    collector.beginSource(index);
    const read = await readList(list.path, list.reading, add, collector);
    if (read.hasAdblockRules) adblockSources.add(index);
    statistics.push(read);
  }
  // From now on, an error is not attributed to a list.
  Atomics.store(job.progress, 0, job.lists.length + 1);
  names?.finish();
  const addressRules = statistics.reduce((sum, read) => sum + read.addressRules, 0);
  const prefixes = new PrefixLengths();
  for (const { prefixLengths } of statistics) prefixes.addAll(prefixLengths);
  const special = collector.finish(builder, adblockSources);
  return { table: builder.finish(job.build, addressRules, prefixes), special, statistics };
}

/** The first line of a list that has a rule of one of these kinds for `name`; null if there is no such line. */
export async function findLine({
  list,
  name,
  kinds,
  progress,
}: JobProgress & {
  readonly list: ListFile;
  readonly name: string;
  readonly kinds: number;
}): Promise<number | null> {
  begin(progress);
  const wanted = Buffer.from(name, 'latin1');
  let found: number | null = null;
  await readList(list.path, list.reading, (bytes, start, end, kind, line) => {
    if (found !== null || (kind & kinds) === 0 || end - start !== wanted.length) return;
    for (let at = 0; at < wanted.length; at++) if (FOLD[bytes[start + at]!] !== wanted[at]) return;
    found = line;
  });
  return found;
}

/** Signals that a thread has taken the job and begins with the first list. */
function begin(progress: Int32Array): void {
  yieldToAnswering();
  Atomics.store(progress, 0, 1);
  Atomics.notify(progress, 0);
}

/** On Linux, a priority applies to a thread, so the rest of the process is not affected. */
function yieldToAnswering(): void {
  if (isMainThread || process.platform !== 'linux') return;
  // The priority is only lowered: ordinary users may not raise a priority, and Weir itself may already run at a lower
  // one.
  setPriority(0, Math.max(getPriority(0), NICENESS));
}
