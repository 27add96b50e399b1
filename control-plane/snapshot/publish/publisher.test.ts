import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PolicyTable } from '../../../shared/snapshot/policy-table.ts';
import { RuleKind } from '../../../shared/snapshot/rule-table.ts';
import type { SnapshotBuffers } from '../../../shared/snapshot/snapshot.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { type FindLivePolicy, NOTHING_LIVE } from '../../policy/live.ts';
import { emptySnapshot } from '../build/empty-snapshot.ts';
import { Generations } from './generations.ts';
import { type Broadcast, SnapshotPublisher } from './publisher.ts';
import {
  SMALL_BLOCKING as BLOCKING,
  SMALL_ROWS as ROWS,
  SMALL_RULES as RULES,
  listedRule as listed,
} from '../../../test/support/parts/small-policy.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX } = RuleKind;

let dataDir: string;
let logger: MemoryLogger;
let generations: Generations;
let sent: SnapshotBuffers[];
let broadcast: Broadcast;
let live: FindLivePolicy;
let publisher: SnapshotPublisher;

/** What threads do that are well. */
const take: Broadcast = async (snapshot) => {
  sent.push(snapshot);
  return 0;
};

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-publisher-'));
  logger = new MemoryLogger();
  generations = new Generations(dataDir, logger);
  await generations.load();
  sent = [];
  live = () => NOTHING_LIVE;
  broadcast = take;
  publisher = new SnapshotPublisher({
    initial: emptySnapshot(BLOCKING),
    broadcast: (snapshot) => broadcast(snapshot),
    live: (rows) => live(rows),
    generations,
    logger,
  });
});
afterEach(async () => {
  await publisher.settled();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('SnapshotPublisher', () => {
  test('hands out growing versions, one publication at a time, and writes the newest to disk', async () => {
    let atWork = 0;
    broadcast = async (snapshot) => {
      expect(++atWork).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      atWork--;
      return take(snapshot);
    };
    await Promise.all([1, 2, 3].map(() => publisher.publish(RULES, ROWS, BLOCKING)));
    expect(sent.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(sent.map(({ policy }) => new PolicyTable(policy).snapshotVersion)).toEqual([1, 2, 3]);
    await publisher.settled();
    expect((await generations.load()).kept?.version).toBe(3);
  });

  test('counts the threads that do not take a snapshot in time, and writes it to disk all the same', async () => {
    broadcast = async () => 2;
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.threadsBehind()).toBe(2);
    await publisher.settled();
    expect((await generations.load()).kept?.version).toBe(1);
    broadcast = take;
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.threadsBehind()).toBe(0);
  });

  test('rejects when a snapshot cannot be handed to the threads, and goes on with the next', async () => {
    broadcast = () => Promise.reject(new Error('worker 1 did not answer'));
    await expect(publisher.publish(RULES, ROWS, BLOCKING)).rejects.toThrow('worker 1 did not answer');
    broadcast = take;
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(sent.map(({ version }) => version)).toEqual([2]);
  });

  test('answers go on when the disk takes no generation, and it says so', async () => {
    rmSync(join(dataDir, 'snapshots'), { recursive: true });
    writeFileSync(join(dataDir, 'snapshots'), 'in the way');
    await expect(publisher.publish(RULES, ROWS, BLOCKING)).resolves.toMatchObject({ version: 1 });
    await publisher.settled();
    expect(logger.text()).toMatch(
      /^error write generation failed: the previous one stays on disk .*ENOTDIR/m,
    );
  });

  test('describeRule() names the lists behind an attribute of that version, whatever came after', async () => {
    await publisher.publish(RULES, ROWS, BLOCKING);
    const renamed = { ...ROWS, sources: ROWS.sources.map((source) => ({ ...source, name: 'renamed' })) };
    await publisher.publish(RULES, renamed, BLOCKING);
    const both = BLOCK_EXACT | BLOCK_SUFFIX;
    expect(publisher.describeRule(1, listed(0, both, 7))).toMatchObject({ source: 'ads', sources: ['ads'] });
    expect(publisher.describeRule(1, listed(1, both, 7))).toEqual({
      source: 'ads',
      sources: ['ads', 'malware'],
      sourceIds: [10, 20],
      rule: '||b.example^',
      line: null,
    });
    expect(publisher.describeRule(2, listed(0, both, 7))?.source).toBe('renamed');
  });
});
