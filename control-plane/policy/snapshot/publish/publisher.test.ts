import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpenedPublisher } from '../../../../test/support/parts/opened-publisher.ts';
import { PolicyTable } from '../../../../shared/snapshot/policy-table.ts';
import { RuleKind } from '../../../../shared/snapshot/rule-table.ts';
import {
  SMALL_BLOCKING as BLOCKING,
  SMALL_ROWS as ROWS,
  SMALL_RULES as RULES,
  listedRule as listed,
} from '../../../../test/support/parts/small-policy.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX } = RuleKind;

let opened: OpenedPublisher;
let dataDir: OpenedPublisher['dataDir'];
let logger: OpenedPublisher['logger'];
let generations: OpenedPublisher['generations'];
let sent: OpenedPublisher['sent'];
let publisher: OpenedPublisher['publisher'];

beforeEach(async () => {
  opened = await OpenedPublisher.open();
  ({ dataDir, logger, generations, sent, publisher } = opened);
});
afterEach(() => opened.close());

describe('SnapshotPublisher', () => {
  test('publishes increasing versions, one at a time, and writes the newest to disk', async () => {
    let atWork = 0;
    opened.broadcast = async (snapshot) => {
      expect(++atWork).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      atWork--;
      return opened.take(snapshot);
    };
    await Promise.all([1, 2, 3].map(() => publisher.publish(RULES, ROWS, BLOCKING)));
    expect(sent.map(({ version }) => version)).toEqual([1, 2, 3]);
    expect(sent.map(({ policy }) => new PolicyTable(policy).snapshotVersion)).toEqual([1, 2, 3]);
    await publisher.settled();
    expect((await generations.load()).kept?.version).toBe(3);
  });

  test('writes to disk the last snapshot for each rule table, however fast snapshots follow each other', async () => {
    const other = { ...RULES };
    for (const rules of [RULES, RULES, other, other, RULES]) await publisher.publish(rules, ROWS, BLOCKING);
    await publisher.settled();
    const written = logger.lines.filter(({ message }) => message === 'wrote a policy snapshot to disk');
    expect(written.map(({ fields }) => fields['version'])).toEqual([1, 2, 4, 5]);
  });

  test('logs once which regex filters are left out, until the filters change', async () => {
    const filter = { id: 1, name: 'broken', pattern: '(', action: 'deny' as const, groupId: null };
    const rows = { ...ROWS, regexFilters: [filter] };
    const warnings = (): number => logger.lines.filter(({ level }) => level === 'warn').length;
    await publisher.publish(RULES, rows, BLOCKING);
    expect(warnings()).toBe(1);
    await publisher.refresh(BLOCKING);
    await publisher.publish(RULES, rows, BLOCKING);
    expect(warnings()).toBe(1);
    await publisher.publish(RULES, { ...ROWS, regexFilters: [{ ...filter, pattern: '[' }] }, BLOCKING);
    expect(warnings()).toBe(2);
  });

  test('counts the threads that do not apply a snapshot in time, and still writes the snapshot to disk', async () => {
    opened.broadcast = async () => 2;
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.threadsBehind()).toBe(2);
    await publisher.settled();
    expect((await generations.load()).kept?.version).toBe(1);
    opened.broadcast = opened.take;
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(publisher.threadsBehind()).toBe(0);
  });

  test('rejects if a snapshot cannot be sent to the threads, and publishes the next snapshot', async () => {
    opened.broadcast = () => Promise.reject(new Error('worker 1 did not answer'));
    await expect(publisher.publish(RULES, ROWS, BLOCKING)).rejects.toThrow('worker 1 did not answer');
    opened.broadcast = opened.take;
    await publisher.publish(RULES, ROWS, BLOCKING);
    expect(sent.map(({ version }) => version)).toEqual([2]);
  });

  test('continues if a snapshot cannot be written to disk, and logs that', async () => {
    rmSync(join(dataDir, 'snapshots'), { recursive: true });
    writeFileSync(join(dataDir, 'snapshots'), 'in the way');
    await expect(publisher.publish(RULES, ROWS, BLOCKING)).resolves.toMatchObject({ version: 1 });
    await publisher.settled();
    expect(logger.text()).toMatch(
      /^error could not write a policy snapshot to disk; the previous one stays there .*ENOTDIR/m,
    );
  });

  test('describeRule() returns the lists of a rule in the given version, whatever was published later', async () => {
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
