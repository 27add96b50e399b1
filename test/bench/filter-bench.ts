/**
 * Measures the filter engine alone: compile time, memory, and nanoseconds per rule match, on generated names. `npm run
 * bench -- filter 5` uses five million names; prints a table. `run.ts` measures other servers.
 */
import { readFileSync, rmSync, writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../../control-plane/policy/compile/table/compile-task.ts';
import { type CompiledRules } from '../../control-plane/policy/compile/table/compiled-rules.ts';
import { NOTHING_LIVE } from '../../control-plane/policy/change/runtime-state.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../control-plane/policy/change/rows.ts';
import { Generations } from '../../control-plane/policy/snapshot/publish/generations.ts';
import { buildSnapshot } from '../../control-plane/policy/snapshot/build/snapshot-builder.ts';
import { PolicyMatcher } from '../../dns-worker/policy/policy-matcher.ts';
import type { Query } from '../../dns-worker/query/query.ts';
import { type OpenSnapshot, openSnapshot } from '../../dns-worker/policy/open-snapshot.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { openLists, queryFor } from '../support/parts/test-lists.ts';

const millions = Number(process.argv[2] ?? 1);
const names = millions * 1_000_000;
const ASKED = 200_000;
const LANE_STRIDE = 18;
const WIRE_STRIDE = 64;
const BLOCKING = { enabled: true, mode: 'null_ip' as const, ttlSecs: 10, customIpv4: '', customIpv6: '' };
const folder = mkdtempSync(join(tmpdir(), 'weir-filter-bench-'));

function collect(): void {
  (globalThis as { gc?: () => void }).gc?.();
}

function row(what: string, value: string): void {
  console.log(`${what.padEnd(62)} ${value}`);
}

const WORDS = ['ads', 'track', 'cdn', 'metrics', 'pixel', 'static', 'click', 'banner'];

function nameAt(index: number): string {
  const tld = index % 3 === 0 ? 'com' : 'net';
  return `${WORDS[index & 7]}${Math.imul(index, 0x9e3779b1) >>> 0}.site${index % 50_021}.${tld}`;
}

/** Writes a list of distinct, typical names to a text file. */
function writeList(): string {
  const path = join(folder, 'list.txt');
  let text = '';
  writeFileSync(path, '');
  for (let index = 0; index < names; index++) {
    text += `${nameAt(index)}\n`;
    if (text.length < 8_000_000 && index + 1 < names) continue;
    writeFileSync(path, text, { flag: 'a' });
    text = '';
  }
  return path;
}

/** Names packed as in a receive buffer, so that the measurement does not touch other memory. */
class PackedNames {
  readonly count: number;
  private readonly lanes: Int32Array;
  private readonly wires: Uint8Array;

  constructor(texts: readonly string[], snapshot: OpenSnapshot) {
    this.count = texts.length;
    this.lanes = new Int32Array(texts.length * LANE_STRIDE);
    this.wires = new Uint8Array(texts.length * WIRE_STRIDE);
    for (const [index, text] of texts.entries()) {
      const query = queryFor(text, snapshot);
      this.lanes.set(query.hashLow.subarray(0, 8), index * LANE_STRIDE);
      this.lanes.set(query.hashHigh.subarray(0, 8), index * LANE_STRIDE + 8);
      this.lanes[index * LANE_STRIDE + 16] = query.labelCount;
      this.lanes[index * LANE_STRIDE + 17] = query.qnameLength;
      this.wires.set(query.qname.subarray(0, WIRE_STRIDE - 8), index * WIRE_STRIDE);
      this.wires.set(query.labelAt.subarray(0, 8), index * WIRE_STRIDE + WIRE_STRIDE - 8);
    }
  }

  /** Sets `query` to the name at `index`. */
  load(index: number, query: Query): void {
    const lane = index * LANE_STRIDE;
    const wire = index * WIRE_STRIDE;
    query.labelCount = this.lanes[lane + 16]!;
    query.qnameLength = this.lanes[lane + 17]!;
    for (let label = 0; label < query.labelCount; label++) {
      query.hashLow[label] = this.lanes[lane + label]!;
      query.hashHigh[label] = this.lanes[lane + 8 + label]!;
      query.labelAt[label] = this.wires[wire + WIRE_STRIDE - 8 + label]!;
    }
    for (let at = 0; at < query.qnameLength; at++) query.qname[at] = this.wires[wire + at]!;
  }
}

/** Nanoseconds and allocated bytes per rule match, without the cost of loading the name. */
function measureMatches(
  packed: PackedNames,
  snapshot: OpenSnapshot,
  rounds: number,
): { ns: number; bytes: number } {
  const matcher = new PolicyMatcher();
  const query = queryFor('example.com', snapshot);
  let checksum = 0;
  const load = (): void => {
    for (let index = 0; index < packed.count; index++) {
      packed.load(index, query);
      checksum ^= query.hashLow[0]!;
    }
  };
  const run = (): void => {
    for (let index = 0; index < packed.count; index++) {
      packed.load(index, query);
      checksum ^= matcher.match(query, query, snapshot, 0);
    }
  };
  const timeNs = (work: () => void): number => {
    work();
    // Measures CPU time, which other load on the machine hardly affects, and uses the best of three runs.
    let bestUs = Infinity;
    for (let turn = 0; turn < 3; turn++) {
      const before = process.cpuUsage();
      for (let round = 0; round < rounds; round++) work();
      const { user, system } = process.cpuUsage(before);
      bestUs = Math.min(bestUs, user + system);
    }
    return (bestUs * 1000) / rounds / packed.count;
  };
  const loadNs = timeNs(load);
  run();
  collect();
  const heapBefore = process.memoryUsage().heapUsed;
  const ns = timeNs(run) - loadNs;
  const bytes = (process.memoryUsage().heapUsed - heapBefore) / (3 * rounds + 1) / packed.count;
  if (checksum === 0x7fffffff) console.log(checksum);
  return { ns, bytes };
}

/** Microseconds to evaluate a name that was not queried before; the best of three runs. */
function measureNewNames(texts: readonly string[], snapshot: OpenSnapshot): number {
  const queries = texts.map((text) => queryFor(text, snapshot));
  let bestUs = Infinity;
  for (let turn = 0; turn < 4; turn++) {
    const matcher = new PolicyMatcher();
    const before = process.cpuUsage();
    for (const query of queries) matcher.match(query, query, snapshot, 0);
    const { user, system } = process.cpuUsage(before);
    bestUs = Math.min(bestUs, (user + system) / queries.length);
  }
  return bestUs;
}

/**
 * A list of 1,000 expressions without a literal part; hostile expressions share no automaton states with each other.
 */
function literalFree(isHostile: boolean): OpenSnapshot {
  const letter = (at: number): string => String.fromCharCode(97 + (at % 26));
  const shapes: readonly ((at: number) => string)[] = [
    (at) => `^[a-z]{${3 + (at % 17)}}[0-9]{${1 + (at % 5)}}\\.[a-z]{2,${3 + (at % 4)}}$`,
    (at) => `[0-9]{${3 + (at % 9)}}-[0-9]{${2 + (at % 7)}}`,
    (at) => `(^|\\.)[0-9a-f]{${8 + (at % 24)}}\\.`,
    (at) => `[_.-]${letter(at)}[0-9]{1,${1 + (at % 6)}}[_.-]`,
    (at) => `^(.+[_.-])?${letter(at)}[0-9]*[_.-]${letter(at * 3)}`,
    (at) => `^[^.]{${20 + (at % 30)},}\\.`,
  ];
  const lines = Array.from({ length: 1000 }, (_, at) =>
    isHostile ? `/[${letter(at)}-z][a-z0-9.-]{9}${letter(Math.floor(at / 26))}/` : `/${shapes[at % 6]!(at)}/`,
  );
  return openLists([{ text: lines.join('\n'), reading: { kind: 'block', subdomains: false } }]);
}

function rowsWith(patterns: readonly string[]): PolicyRows {
  return {
    ...NO_POLICY_ROWS,
    sources: [{ id: 1, name: 'list', kind: 'block', enabled: true, groupIds: [] }],
    regexFilters: patterns.map((pattern, index) => {
      return { id: index + 1, name: `r${index}`, pattern, action: 'deny' as const, groupId: null };
    }),
  };
}

/** Two hundred regular expressions of common kinds. */
function expressions(): string[] {
  const shapes = [
    (word: string) => `^(.+[_.-])?${word}s?[0-9]*[_.-]`,
    (word: string) => `^${word}[0-9]{1,3}\\.`,
    (word: string) => `(^|\\.)${word}\\.[a-z]+$`,
    (word: string) => `[_.-]${word}(ing|er)?[_.-]`,
  ];
  return Array.from({ length: 200 }, (_, index) => shapes[index & 3]!(`q${(index * 7919).toString(36)}z`));
}

try {
  const path = writeList();
  const textMib = readFileSync(path).length / 2 ** 20;
  collect();
  const seeds = { low: 12345, high: 67890 };
  const order = {
    lists: [{ path, reading: { kind: 'block' as const, subdomains: false } }],
    seeds,
    build: 1,
    progress: new Int32Array(new SharedArrayBuffer(4)),
  };
  const expectedNames = Math.floor((textMib * 2 ** 20) / 64);
  let peakBytes = 0;
  const watch = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage().rss)), 5);
  const rssBefore = process.memoryUsage().rss;
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  const { table, special, statistics } = await compile({ ...order, expectedNames });
  const compileMs = performance.now() - startedMs;
  const compileCpu = process.cpuUsage(startedCpu);
  clearInterval(watch);
  const compiled: CompiledRules = {
    rules: table.rules,
    special,
    attributes: table.attributes,
    sources: [{ id: 1, inputKey: '1', statistics: statistics[0]! }],
    compiledAtMs: 1,
    compileMs,
  };
  row('names', String(table.nameCount));
  row('text, MiB', textMib.toFixed(1));
  row('compile from text on disk, one thread, ms', compileMs.toFixed(0));
  row('the same, ms of processor time', ((compileCpu.user + compileCpu.system) / 1000).toFixed(0));
  row('ns a line', ((compileMs * 1e6) / names).toFixed(0));
  row('table, MiB', (table.rules.byteLength / 2 ** 20).toFixed(1));
  row('bytes a name, sources included', (table.rules.byteLength / table.nameCount).toFixed(2));
  row('memory grown while compiling, peak, MiB', ((peakBytes - rssBefore) / 2 ** 20).toFixed(1));

  const quiet = new MemoryLogger();
  const generations = new Generations(folder, quiet);
  await generations.load();
  const rows = rowsWith([]);
  const overlayStartedMs = performance.now();
  const snapshot = buildSnapshot(1, compiled, rows, BLOCKING, NOTHING_LIVE);
  row('policy and manual rules, ms', (performance.now() - overlayStartedMs).toFixed(2));
  await generations.save({ snapshot, compiled, rows });
  const loadStartedMs = performance.now();
  const { kept } = await new Generations(folder, quiet).load();
  const opened = openSnapshot(buildSnapshot(2, kept!.compiled, kept!.rows, BLOCKING, NOTHING_LIVE));
  row(
    'warm start: from disk to open, checksums verified, ms',
    (performance.now() - loadStartedMs).toFixed(0),
  );

  const texts = Array.from({ length: ASKED }, (_, asked) => nameAt((asked * 4999) % names));
  const hits = new PackedNames(texts, opened);
  const misses = new PackedNames(
    texts.map((_, index) => `www${index}.shop${index % 999}.org`),
    opened,
  );
  const deep = new PackedNames(
    texts.map((_, index) => `a${index}.b.c${index % 99}.shop${index % 999}.org`),
    opened,
  );
  const few = new PackedNames(
    texts.slice(0, 2000).map((_, index) => `www${index}.shop${index % 999}.org`),
    opened,
  );
  const withRegexes = openSnapshot(
    buildSnapshot(2, compiled, rowsWith(expressions()), BLOCKING, NOTHING_LIVE),
  );
  for (const [label, view] of [
    ['', opened],
    [', 200 regexes', withRegexes],
  ] as const) {
    for (const [what, packed, rounds] of [
      ['hit', hits, 10],
      ['miss', misses, 10],
      ['five-label miss', deep, 10],
      ['remembered', few, 1000],
    ] as const) {
      const { ns, bytes } = measureMatches(packed, view, rounds);
      row(`match, ${what}${label}: ns (bytes allocated)`, `${ns.toFixed(0)} (${bytes.toFixed(2)})`);
    }
  }
  for (const [what, isHostile] of [
    ['1,000 expressions without a literal', false],
    ['the largest number of hostile ones within the budget', true],
  ] as const) {
    const view = literalFree(isHostile);
    for (const [length, asked] of [
      ['', 5000],
      [' of 253 octets', 500],
    ] as const) {
      const filler = length === '' ? '' : `${'abcdefghij-klmnopqr.'.repeat(12).slice(0, 217)}.`;
      const names = Array.from(
        { length: asked },
        (_, at) => `${filler}www${String(at)}.shop${String(at % 999)}.example.org`,
      );
      row(`match, new name${length}, ${what}: us`, measureNewNames(names, view).toFixed(1));
    }
  }
  collect();
  const flatBefore = process.memoryUsage();
  const editStartedMs = performance.now();
  let last: OpenSnapshot = opened;
  for (let edit = 0; edit < 1000; edit++)
    last = openSnapshot(
      buildSnapshot(3 + edit, compiled, rowsWith([`^edit${edit}\\.`]), BLOCKING, NOTHING_LIVE),
      last,
    );
  const editMs = (performance.now() - editStartedMs) / 1000;
  collect();
  const flatAfter = process.memoryUsage();
  row('one rule edited 1,000 times: ms each', editMs.toFixed(2));
  row(
    'heap and buffers grown by it, KiB',
    (
      (flatAfter.heapUsed + flatAfter.arrayBuffers - flatBefore.heapUsed - flatBefore.arrayBuffers) /
      1024
    ).toFixed(0),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
