import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NO_LOCAL_SWITCH } from '../../../test/support/parts/every-route.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { RunningApi, SteeredClock } from '../../../test/support/parts/running-api.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { DatabaseBusy, DatabaseUnavailable, OutcomeUnknown } from '../../storage/db/database-errors.ts';
import { PolicyChanges } from '../../policy/change/change.ts';
import { type BlockingSwitch, NO_POLICY_ROWS, type PolicyRows } from '../../policy/change/rows.ts';
import { blockingRoutes } from './blocking-routes.ts';
import { LocalSwitch } from './local-switch.ts';

let suite: SuiteDatabase;
beforeAll(async () => {
  suite = await openSuiteDatabase();
});
beforeEach(() => suite.reset());
afterAll(() => suite.close());

/** A node that can lose its database. */
class NodeWithoutDatabase implements AsyncDisposable {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'weir-local-switch-'));
  readonly clock = new SteeredClock();
  /** Error with which a policy change fails; null = changes are stored. */
  fault: Error | null = new DatabaseUnavailable('away');
  /** The switch in the database. */
  stored: BlockingSwitch | null = null;
  rows: PolicyRows = NO_POLICY_ROWS;
  local = this.start();
  api!: RunningApi;

  static async open(): Promise<NodeWithoutDatabase> {
    const node = new NodeWithoutDatabase();
    const policy = new PolicyChanges(suite.database, {
      apply: async () => node.publish({ ...NO_POLICY_ROWS, blockingSwitch: node.stored }),
      threadsBehind: () => 0,
    });
    const change: PolicyChanges['change'] = (...given) => {
      if (node.fault !== null) return Promise.reject(node.fault);
      return policy.change(...given);
    };
    const rows = (parts: Parameters<typeof blockingRoutes>[0]) =>
      blockingRoutes({
        ...parts,
        policy: Object.assign(Object.create(policy) as PolicyChanges, { change }),
        policyRows: () => node.rows,
        localSwitch: {
          isActive: () => node.local.isActive(),
          use: (...given) => node.local.use(...given),
          end: () => node.local.end(),
        },
        activePolicy: { applyLive: async () => node.publish(node.rows) },
      });
    const fakes = { ...NO_LOCAL_SWITCH, policyRows: () => ({ blockingSwitch: null }) };
    node.api = await RunningApi.start(suite.database, (parts) => rows({ ...parts, ...fakes }), {
      clock: node.clock,
    });
    return node;
  }

  /** Opens the local switch like a process that starts with this data directory. */
  start(): LocalSwitch {
    const { dataDir, clock } = this;
    return new LocalSwitch({ dataDir, clock, logger: new MemoryLogger() });
  }

  publish(rows: PolicyRows): void {
    this.rows = this.local.over(rows);
  }

  async switch(enabled: boolean, timerSecs: number | null): Promise<unknown> {
    const json = { enabled, timer_secs: timerSecs };
    const { status, body } = await this.api.send('POST', '/api/blocking', { json });
    return status === 200 ? body : status;
  }

  async read(): Promise<unknown> {
    return (await this.api.send('GET', '/api/blocking')).body;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.api.close();
    rmSync(this.dataDir, { recursive: true });
  }
}

const PAUSED = { enabled: false, timer_secs: 600, source: 'switch', this_node_only: true };
const ON = { enabled: true, timer_secs: null, source: 'configuration', this_node_only: false };

describe('POST /blocking without a database', () => {
  test('pauses blocking on this node for an hour at most, and the pause survives a restart', async () => {
    await using node = await NodeWithoutDatabase.open();
    expect(await node.switch(false, 600)).toEqual(PAUSED);
    node.local = node.start();
    node.publish(node.rows);
    node.clock.advanceSecs(100);
    expect(await node.read()).toEqual({ ...PAUSED, timer_secs: 500 });
    node.clock.advanceSecs(500);
    node.publish(node.rows);
    expect([await node.read(), node.rows.blockingSwitch]).toEqual([ON, null]);
  });

  test('refuses a longer pause with 503, and reports the maximum', async () => {
    await using node = await NodeWithoutDatabase.open();
    for (const timerSecs of [null, 3601]) {
      const json = { enabled: false, timer_secs: timerSecs };
      const answer = await node.api.send('POST', '/api/blocking', { json });
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
      expect(answer.problem.detail).toMatch(/only on this node, for at most an hour/);
    }
    expect(await node.read()).toEqual(ON);
    expect((await node.api.send('DELETE', '/api/blocking')).status).toBe(503);
  });

  test.each([new DatabaseBusy('busy'), new OutcomeUnknown('lost')])(
    'is refused with 503 after %s',
    async (fault) => {
      await using node = await NodeWithoutDatabase.open();
      node.fault = fault;
      expect(await node.switch(false, 60)).toBe(503);
      expect(await node.read()).toEqual(ON);
    },
  );

  test('remains active when the database is back, until a user changes the switch in the database', async () => {
    await using node = await NodeWithoutDatabase.open();
    await node.switch(false, 600);
    node.publish(NO_POLICY_ROWS);
    expect(await node.read()).toEqual(PAUSED);
    node.stored = { enabled: true, until: null, before: null };
    node.publish({ ...NO_POLICY_ROWS, blockingSwitch: node.stored });
    expect(await node.read()).toEqual({ ...ON, source: 'switch' });
    node.publish({ ...NO_POLICY_ROWS, blockingSwitch: null });
    expect(await node.read()).toEqual(ON);
  });

  test('ends when DELETE /blocking succeeds with a database', async () => {
    await using node = await NodeWithoutDatabase.open();
    await node.switch(false, 600);
    node.fault = null;
    expect((await node.api.send('DELETE', '/api/blocking')).status).toBe(204);
    expect(await node.read()).toEqual(ON);
  });

  test('is in the audit log once, with its original time, when the database is back', async () => {
    await using node = await NodeWithoutDatabase.open();
    const at = new Date(node.clock.nowMs());
    await node.switch(false, 600);
    node.clock.advanceSecs(60);
    node.local = node.start();
    await node.local.record(suite.database);
    await node.start().record(suite.database);
    const { rows } = await suite.database.query(
      'SELECT created_at, actor, action, subject, before, after FROM audit_log',
    );
    expect(rows).toMatchObject([
      {
        ...{ created_at: at, action: 'paused on this node', subject: 'blocking', before: null },
        after: { enabled: false, until: new Date(at.getTime() + 600_000).toISOString() },
      },
    ]);
    expect(await node.read()).toEqual({ ...PAUSED, timer_secs: 540 });
  });
});
