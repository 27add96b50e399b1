import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { systemClock } from '../../../shared/clock.ts';
import { SAMPLE_FIGURES } from '../../../test/support/parts/sample-figures.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { makeTempDir, startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { NodeClaim } from './node-claim.ts';
import { listNodes } from './node-figures.ts';
import type { NodeFigures } from './node-figures.ts';
import { nodeUuid } from './node-uuid.ts';

let own: TestDatabase;
const claims: NodeClaim[] = [];
beforeAll(async () => {
  own = await startTestDatabase();
});
afterEach(async () => {
  for (const claim of claims.splice(0)) await claim.stop();
  await asOwner(own.database, 'TRUNCATE nodes');
});
afterAll(() => own.stop());

/** The claim of a process, after its first attempt. */
async function processOf(uuid: string, name = 'edge'): Promise<{ claim: NodeClaim; logger: MemoryLogger }> {
  const logger = new MemoryLogger();
  const claim = new NodeClaim({
    database: own.database,
    clock: systemClock,
    logger,
    nodeName: name,
    version: '1',
    uuid,
  });
  claims.push(claim);
  claim.start();
  await claim.beat();
  return { claim, logger };
}

const FIGURES: NodeFigures = {
  ...{ address: '192.0.2.53', state: 'ready', snapshotId: 9, policyRevision: null, mark: null, qps: 12.5 },
  others: SAMPLE_FIGURES,
};
const [first, second] = [randomUUID(), randomUUID()];
const row = async (): Promise<unknown> =>
  (await own.database.query('SELECT name, uuid, started_at FROM nodes')).rows;

describe('NodeClaim', () => {
  test('refuses another machine with the same node name until the first one has stopped, and logs that once', async () => {
    const { claim: holder } = await processOf(first);
    const before = await row();
    const { claim: other, logger } = await processOf(second);
    await other.beat();
    expect([holder.isHeld(), other.isHeld()]).toEqual([true, false]);
    expect(other.trouble()).toMatch(/another machine runs as node edge: choose another server.node_name/);
    const reported = logger.lines.filter(({ level }) => level === 'error');
    expect(reported).toMatchObject([{ message: other.trouble(), fields: { holder: first } }]);
    await holder.beat();
    expect([holder.isHeld(), await row()]).toEqual([true, before]);
    await holder.stop();
    await other.beat();
    expect([other.isHeld(), other.trouble()]).toEqual([true, null]);
    expect(await row()).toMatchObject([{ name: 'edge', uuid: second }]);
  });

  test('refuses the older process if a copy of its data directory is in use, and runs no jobs there', async () => {
    const { claim: original } = await processOf(first);
    const { claim: copy } = await processOf(first);
    await original.beat();
    expect([original.isHeld(), copy.isHeld()]).toEqual([false, true]);
    expect(original.trouble()).toMatch(/runs as node edge on a copy of this data directory/);
    await copy.beat();
    await original.beat();
    expect([original.isHeld(), copy.isHeld()]).toEqual([false, true]);
  });

  test('takes the name from a killed process of the same data directory immediately, or from a silent machine', async () => {
    const { claim: killed } = await processOf(first);
    expect((await processOf(first)).claim.isHeld()).toBe(true);
    await killed.beat();
    expect(killed.isHeld()).toBe(false);
    for (const away of ['-61 seconds', '61 seconds']) {
      await own.database.query('UPDATE nodes SET last_seen = now() + $1::interval', [away]);
      const next = await processOf(randomUUID());
      expect([away, next.claim.isHeld()]).toEqual([away, true]);
    }
  });

  test('stores with each heartbeat the policy revision of the node, and how long a newer one has existed', async () => {
    await asOwner(own.database, 'TRUNCATE revisions');
    await own.database.query(
      `INSERT INTO revisions (author, summary, created_at)
       SELECT 'ada', 'x', now() - make_interval(secs => age) FROM unnest(ARRAY[300, 200, 100]) age`,
    );
    const { rows: revisions } = await own.database.query<{ id: number }>(
      'SELECT id FROM revisions ORDER BY id',
    );
    const [old, next, newest] = revisions.map(({ id }) => id) as [number, number, number];
    const { claim } = await processOf(first);
    const reportedLag = async (policyRevision: number | null): Promise<unknown> => {
      claim.reportFigures(() => ({ ...FIGURES, policyRevision }));
      await claim.beat();
      const [row] = await listNodes(own.database, policyRevision);
      expect(row).toMatchObject({
        node: 'edge',
        version: '1',
        address: '192.0.2.53',
        snapshot_id: 9,
        qps: 12.5,
      });
      const lags = [row!.lag_ms, row!.lagOfAsked].map((lag) => lag && Math.floor(lag / 100_000));
      return [row!.policy_revision, ...lags];
    };
    expect(await reportedLag(newest)).toEqual([newest, 0, 0]);
    expect(await reportedLag(next)).toEqual([next, 1, 1]);
    expect(await reportedLag(old)).toEqual([old, 2, 2]);
    expect(await reportedLag(null)).toEqual([null, null, null]);
    // A process that has lost the name sends no more heartbeats.
    expect((await processOf(first)).claim.isHeld()).toBe(true);
    await claim.beat();
    expect(await listNodes(own.database, newest)).toMatchObject([{ policy_revision: null, lagOfAsked: 0 }]);
    await asOwner(own.database, 'TRUNCATE revisions CASCADE');
  });

  test('returns after each heartbeat which other nodes have problems, and how far the clock of this node is ahead', async () => {
    const { claim } = await processOf(first);
    const { claim: other } = await processOf(second, 'core');
    for (const one of [claim, other]) one.reportFigures(() => FIGURES);
    await other.beat();
    await claim.beat();
    expect([claim.othersInTrouble(), typeof claim.aheadMs()]).toEqual([[], 'number']);
    await own.database.query(`UPDATE nodes SET version = '2' WHERE name = 'core'`);
    await claim.beat();
    expect(claim.otherVersions()).toEqual([{ node: 'core', version: '2' }]);
    await own.database.query(`UPDATE nodes SET last_seen = now() - interval '1 hour' WHERE name = 'core'`);
    await claim.beat();
    expect(claim.otherVersions()).toEqual([]);
    expect(claim.othersInTrouble()).toEqual([{ node: 'core', isSilent: true }]);
    // A node that has stopped properly is not reported as missing.
    await other.beat();
    await other.stop();
    await claim.beat();
    expect(claim.othersInTrouble()).toEqual([]);
  });

  test('accepts different names, and reports two names with the same node ID', async () => {
    await processOf(first, 'edge');
    expect((await processOf(second, 'core')).claim.isHeld()).toBe(true);
    await own.database.query(`UPDATE nodes SET name = 'twin' WHERE name = 'edge'`);
    const { claim } = await processOf(first, 'edge');
    expect(claim.trouble()).toMatch(/has the same id as twin/);
  });
});

describe('nodeUuid()', () => {
  test('is the same for each start on a data directory, and differs between data directories', () => {
    const logger = new MemoryLogger();
    const dirs = [makeTempDir(), makeTempDir()];
    const [one, two] = dirs.map((dir) => nodeUuid(dir, logger));
    expect(dirs.map((dir) => nodeUuid(dir, logger))).toEqual([one, two]);
    expect(one).not.toBe(two);
    const path = join(dirs[0]!, 'node-uuid');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(logger.lines).toEqual([]);
    writeFileSync(path, 'not a uuid');
    const renewed = nodeUuid(dirs[0]!, logger);
    expect([renewed === one, readFileSync(path, 'utf8').trim()]).toEqual([false, renewed]);
    expect(logger.text()).toContain('of this node is damaged');
    for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  });

  test('of a copied data directory is new, also on another machine, and is logged once', () => {
    const logger = new MemoryLogger();
    const [original, folder] = [makeTempDir(), makeTempDir()];
    const first = nodeUuid(original, logger);
    const copy = join(folder, 'data');
    cpSync(original, copy, { recursive: true });
    const second = nodeUuid(copy, logger);
    expect(logger.lines).toMatchObject([
      { level: 'warn', message: expect.stringContaining('copied or moved; this node gets a new UUID') },
    ]);
    const third = nodeUuid(copy, logger, 'elsewhere /data');
    expect(logger.lines).toHaveLength(2);
    expect(new Set([first, second, third]).size).toBe(3);
    expect([nodeUuid(original, logger), nodeUuid(copy, logger, 'elsewhere /data')]).toEqual([first, third]);
    for (const dir of [original, folder]) rmSync(dir, { recursive: true, force: true });
  });
});
