import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PolicyTable } from '../../shared/snapshot/policy-table.ts';
import { RuleKind } from '../../shared/snapshot/rule-table.ts';
import type { SnapshotBuffers } from '../../shared/snapshot/snapshot.ts';
import { compiledFrom } from '../../test/support/compiled-rules.ts';
import { MemoryLogger } from '../../test/support/memory-logger.ts';
import { DatabaseUnavailable } from '../db/database-errors.ts';
import type { BlockingSettings, PolicyRows } from './compiled-rules.ts';
import { emptySnapshot } from './empty-snapshot.ts';
import { Generations } from './generations.ts';
import { PolicyInForce } from './policy-in-force.ts';
import { SnapshotPublisher } from './publisher.ts';
import { ruleText } from './rule-history.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX, ALLOW_EXACT, ALLOW_SUFFIX, IMPORTANT_BLOCK_SUFFIX } = RuleKind;
const BLOCKING: BlockingSettings = {
  enabled: true,
  mode: 'null_ip',
  ttlSecs: 10,
  customIpv4: '',
  customIpv6: '',
};
const RULES = compiledFrom([
  {
    id: 10,
    names: [
      ['a.example', BLOCK_EXACT],
      ['b.example', BLOCK_EXACT],
    ],
  },
  { id: 20, names: [['b.example', BLOCK_SUFFIX]] },
]);
const ROWS: PolicyRows = {
  groups: [
    { id: 1, enabled: true },
    { id: 7, enabled: true },
  ],
  sources: [
    { id: 10, name: 'ads', enabled: true, groupIds: [7] },
    { id: 20, name: 'malware', enabled: true, groupIds: [] },
  ],
};

let dataDir: string;
let logger: MemoryLogger;
let generations: Generations;
let sent: SnapshotBuffers[];
let broadcast: (snapshot: SnapshotBuffers) => Promise<void>;
let publisher: SnapshotPublisher;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-publisher-'));
  logger = new MemoryLogger();
  generations = new Generations(dataDir, logger);
  await generations.load();
  sent = [];
  broadcast = async (snapshot) => void sent.push(snapshot);
  publisher = new SnapshotPublisher({
    initial: emptySnapshot(BLOCKING),
    broadcast: (snapshot) => broadcast(snapshot),
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
      sent.push(snapshot);
    };
    await Promise.all([1, 2, 3].map(() => publisher.publish(RULES, ROWS, BLOCKING)));
    expect(sent.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(sent.map(({ policy }) => new PolicyTable(policy).snapshotVersion)).toEqual([1, 2, 3]);
    await publisher.settled();
    expect((await generations.load()).state?.snapshot.version).toBe(3);
  });

  test('rejects when threads do not take a snapshot over, and goes on with the next', async () => {
    broadcast = () => Promise.reject(new Error('worker 1 did not answer'));
    await expect(publisher.publish(RULES, ROWS, BLOCKING)).rejects.toThrow('worker 1 did not answer');
    broadcast = async (snapshot) => void sent.push(snapshot);
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(sent.map(({ version }) => version)).toEqual([2]);
  });

  test('answers go on when the disk takes no generation, and it says so', async () => {
    rmSync(join(dataDir, 'snapshots'), { recursive: true });
    writeFileSync(join(dataDir, 'snapshots'), 'in the way');
    await expect(publisher.publish(RULES, ROWS, BLOCKING)).resolves.toMatchObject({ version: 1 });
    await publisher.settled();
    expect(logger.text()).toMatch(/^error write generation: the one before stays on disk .*ENOTDIR/m);
  });

  test('describeRule() names the lists behind an attribute of that version, whatever came after', async () => {
    await publisher.publish(RULES, ROWS, BLOCKING);
    const renamed = { ...ROWS, sources: ROWS.sources.map((source) => ({ ...source, name: 'renamed' })) };
    await publisher.publish(RULES, renamed, BLOCKING);
    expect(publisher.describeRule(1, 0)).toEqual({ source: 'ads', sources: ['ads'] });
    expect(publisher.describeRule(1, 1)).toEqual({ source: 'ads', sources: ['ads', 'malware'] });
    expect(publisher.describeRule(2, 0)?.source).toBe('renamed');
  });

  test('describeRule() can be narrowed to a kind and to a group', async () => {
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.describeRule(1, 1, BLOCK_SUFFIX)?.sources).toEqual(['malware']);
    expect(publisher.describeRule(1, 1, BLOCK_EXACT | BLOCK_SUFFIX, 1)?.sources).toEqual(['malware']);
    expect(publisher.describeRule(1, 1, undefined, 7)?.sources).toEqual(['ads', 'malware']);
    expect(publisher.describeRule(1, 0, undefined, 1)).toBeUndefined();
  });

  test('describeRule() knows nothing of attributes and versions that are not there or long gone', async () => {
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.describeRule(1, 99)).toBeUndefined();
    expect(publisher.describeRule(77, 0)).toBeUndefined();
    for (let index = 0; index < 64; index++) await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.describeRule(1, 0)).toBeUndefined();
    expect(publisher.describeRule(2, 0)).toBeDefined();
  });
});

describe('ruleText()', () => {
  test.each([
    [BLOCK_EXACT, 'a.example'],
    [BLOCK_SUFFIX, '||a.example^'],
    [BLOCK_EXACT | BLOCK_SUFFIX, '||a.example^'],
    [ALLOW_SUFFIX, '@@||a.example^'],
    [ALLOW_EXACT, '@@|a.example^'],
    [IMPORTANT_BLOCK_SUFFIX | ALLOW_SUFFIX, '||a.example^$important'],
  ])('of kinds %i is %s', (kinds, expected) => {
    expect(ruleText(kinds, 'a.example')).toBe(expected);
  });
});

describe('PolicyInForce', () => {
  let rows: () => Promise<PolicyRows>;
  let blocking = BLOCKING;
  let policy: PolicyInForce;

  beforeEach(() => {
    rows = async () => ROWS;
    blocking = BLOCKING;
    policy = new PolicyInForce({ publisher, readRows: () => rows(), blocking: () => blocking, logger });
  });

  test('apply() publishes the rows of now over the rules in force', async () => {
    await policy.useRules(RULES);
    rows = async () => ({ ...ROWS, groups: [{ id: 1, enabled: true }] });
    await policy.apply();
    expect(sent.map((snapshot) => new PolicyTable(snapshot.policy).groupCount)).toEqual([2, 1]);
    expect(sent[1]!.rules).toBe(RULES.rules);
  });

  test('apply() makes one publication of a burst', async () => {
    await Promise.all(Array.from({ length: 50 }, () => policy.apply()));
    expect(sent).toHaveLength(2);
  });

  test('apply() rejects with the fault of the database, and publishes nothing', async () => {
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    await expect(policy.apply()).rejects.toThrow(DatabaseUnavailable);
    expect(sent).toEqual([]);
  });

  test('useRules() and applySettings() do not wait for the database', async () => {
    await policy.apply();
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    await policy.useRules(RULES);
    blocking = { ...BLOCKING, mode: 'nxdomain' };
    await policy.applySettings();
    const last = new PolicyTable(sent.at(-1)!.policy);
    expect(sent.at(-1)!.rules).toBe(RULES.rules);
    expect([last.blockingMode, last.groupCount]).toEqual([1, 2]);
  });

  test('never puts older rows into force after newer ones', async () => {
    let count = 1;
    rows = async () => {
      const groups = Array.from({ length: count++ }, (_, index) => ({ id: index + 1, enabled: true }));
      await new Promise((resolve) => setTimeout(resolve, count % 3));
      return { ...ROWS, groups };
    };
    await Promise.all([policy.apply(), policy.useRules(RULES), policy.apply(), policy.applySettings()]);
    const counts = sent.map((snapshot) => new PolicyTable(snapshot.policy).groupCount);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(sent.at(-1)!.rules).toBe(RULES.rules);
  });
});
