import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { OpenedPublisher } from '../../../../test/support/parts/opened-publisher.ts';
import { GroupOverride, PolicyTable } from '../../../../shared/snapshot/policy-table.ts';
import { until } from '../../../../test/support/parts/until.ts';
import { DatabaseUnavailable } from '../../../storage/db/database-errors.ts';
import { NOTHING_LIVE } from '../../change/runtime-state.ts';
import { type PolicyPosition, VERSIONED } from '../../../storage/cluster/policy-position.ts';
import { type PolicyRows } from '../../change/rows.ts';
import { inputKeyOf } from '../../compile/table/input-key.ts';
import type { WantedList } from '../../change/policy-store.ts';
import { ActivePolicy } from './active-policy.ts';
import {
  SMALL_BLOCKING as BLOCKING,
  SMALL_ROWS as ROWS,
  SMALL_RULES as RULES,
} from '../../../../test/support/parts/small-policy.ts';

let opened: OpenedPublisher;
let logger: OpenedPublisher['logger'];
let sent: OpenedPublisher['sent'];
let publisher: OpenedPublisher['publisher'];

beforeEach(async () => {
  opened = await OpenedPublisher.open();
  ({ logger, sent, publisher } = opened);
});
afterEach(() => opened.close());

/** A position with this revision and this version of the groups. */
function at(revision: number, groups: string): PolicyPosition {
  const others = Object.fromEntries(VERSIONED.map((name) => [name, '1']));
  return { revision, versions: { ...others, groups, access: randomUUID() }, mark: 0, tables: '1' };
}

describe('ActivePolicy', () => {
  let rows: () => Promise<PolicyRows>;
  let blocking = BLOCKING;
  let policy: ActivePolicy;
  let revision = 0;
  let lists: readonly WantedList[] = [];
  let refused: string[] = [];
  const reading = { kind: 'block', subdomains: false } as const;
  const [source] = RULES.sources;
  const keyOf = (contentKey: string): string => inputKeyOf(source!.id, contentKey, reading);
  const listOf = (contentKey: string): WantedList => ({ id: source!.id, contentKey, ...reading });
  const rulesOf = (contentKey: string): typeof RULES => ({
    ...RULES,
    sources: [{ ...source!, inputKey: keyOf(contentKey) }],
  });

  beforeEach(() => {
    rows = async () => ROWS;
    revision = 0;
    lists = [];
    refused = [];
    blocking = BLOCKING;
    const readPolicy = async () => ({
      rows: await rows(),
      ...{ lists, position: at(++revision, String(revision)) },
    });
    policy = new ActivePolicy({
      ...{ publisher, readPolicy, logger },
      blocking: () => blocking,
      isRefused: (id, key) => id === source!.id && refused.includes(key),
    });
  });

  afterEach(() => policy.close());

  test('apply() publishes the current rows with the active list rules', async () => {
    await policy.useRules(RULES);
    rows = async () => ({ ...ROWS, groups: [{ id: 1, enabled: true }] });
    await policy.apply();
    expect(sent.map((snapshot) => new PolicyTable(snapshot.policy).groupCount)).toEqual([2, 1]);
    expect(sent[1]!.rules).toBe(RULES.rules);
  });

  test('apply() publishes one snapshot for several calls in a row', async () => {
    await Promise.all(Array.from({ length: 50 }, () => policy.apply()));
    expect(sent).toHaveLength(2);
  });

  test('apply() rejects with the cause, and activates the rows when the cause is gone', async () => {
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    const refused: unknown = await policy.apply().catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: 'down' });
    expect(sent).toEqual([]);
    rows = async () => ({ ...ROWS, groups: [{ id: 1, enabled: true }] });
    await until(
      'the snapshot to be sent',
      () => sent.length,
      (count) => count > 0,
    );
    expect(new PolicyTable(sent[0]!.policy).groupCount).toBe(1);
  });

  test('revision() returns the revision of the active rows, not of rows that were only read', async () => {
    expect(policy.revision()).toBeNull();
    await policy.apply();
    expect(policy.revision()).toBe(1);
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    await policy.useRules(RULES);
    expect(policy.revision()).toBe(1);
  });

  test('revision() and mark() do not advance until the lists of the revision are active', async () => {
    lists = [listOf('older')];
    await policy.useRules(rulesOf('older'));
    expect(policy.revision()).toBe(1);
    lists = [listOf('newer')];
    await policy.apply();
    await policy.catchUp(() => ({ ...at(3, '2'), mark: 7 }));
    expect([policy.revision(), policy.mark()]).toEqual([1, 0]);
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    await policy.useRules(rulesOf('newer'));
    expect([policy.revision(), policy.mark()]).toEqual([3, 7]);
  });

  test('revision() ignores lists that are still being sent to DNS threads, or did not arrive there', async () => {
    await policy.useRules(rulesOf('older'));
    lists = [listOf('newer')];
    const broadcasts: PromiseWithResolvers<number>[] = [];
    opened.broadcast = () => {
      broadcasts.push(Promise.withResolvers<number>());
      return broadcasts.at(-1)!.promise;
    };
    const rowsOnly = policy.apply();
    await until(
      'the first broadcast',
      () => broadcasts.length,
      (count) => count === 1,
    );
    const rules = policy.useRules(rulesOf('newer'));
    broadcasts[0]!.resolve(0);
    await rowsOnly;
    await until(
      'the second broadcast',
      () => broadcasts.length,
      (count) => count === 2,
    );
    expect(policy.revision()).toBe(1);
    broadcasts[1]!.reject(new Error('worker 1 did not answer'));
    await expect(rules).rejects.toThrow('worker 1 did not answer');
    await policy.catchUp(() => at(9, '2'));
    expect(policy.revision()).toBe(1);
    opened.broadcast = opened.take;
    await policy.apply();
    expect(policy.revision()).toBe(4);
  });

  test('revision() and mark() advance without a list that this node has refused', async () => {
    await policy.useRules(rulesOf('older'));
    lists = [listOf('newer')];
    await policy.apply();
    expect(policy.revision()).toBe(1);
    refused = [keyOf('newer')];
    await policy.apply();
    expect(policy.revision()).toBe(3);
  });

  test('catchUp() publishes policy if table versions differ at the same revision, as after a restore', async () => {
    await policy.apply();
    await policy.catchUp(() => ({ ...at(1, '1'), tables: '2' }));
    expect(sent).toHaveLength(2);
  });

  test('mark() decreases with the mark of the database, as after a standby was promoted', async () => {
    await policy.apply();
    await policy.catchUp(() => ({ ...at(1, '1'), mark: 9 }));
    expect(policy.mark()).toBe(9);
    lists = [listOf('newer')];
    await policy.catchUp(() => ({ ...at(1, '1'), mark: 8 }));
    expect(policy.mark()).toBeNull();
    await policy.useRules(rulesOf('newer'));
    expect(policy.mark()).toBe(0);
  });

  test('catchUp() publishes changes of other nodes, and nothing that is already active', async () => {
    await policy.catchUp(() => at(1, '1'));
    expect([sent.length, policy.revision()]).toEqual([1, 1]);
    await policy.catchUp(() => at(1, '1'));
    expect(sent).toHaveLength(1);
    // A revision that only changes rows that policy does not read, such as the name of a client.
    await policy.catchUp(() => at(7, '1'));
    expect([sent.length, policy.revision()]).toEqual([1, 7]);
    revision = 7;
    await policy.catchUp(() => at(8, '8'));
    expect([sent.length, policy.revision()]).toEqual([2, 8]);
    // A position that was requested before this node's own change.
    await policy.catchUp(() => at(6, '8'));
    expect([sent.length, policy.revision()]).toEqual([2, 8]);
    // Without the version of a table, any revision may have changed it.
    revision = 8;
    await policy.catchUp(() => ({ ...at(9, '8'), versions: { groups: '8' } }));
    expect([sent.length, policy.revision()]).toEqual([3, 9]);
  });

  test('catchUp() publishes nothing that apply() is already activating', async () => {
    const own = policy.apply();
    await policy.catchUp(() => at(1, '1'));
    await own;
    expect(sent).toHaveLength(1);
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

  test('applyLive() publishes schedules with the known rows, without the database', async () => {
    await policy.apply();
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    opened.live = ({ groups }) => ({
      ...NOTHING_LIVE,
      overrides: new Map([[groups[1]!.id, { override: 'BlockAll', nextFlipAtSecs: 60 }]]),
    });
    await policy.applyLive();
    const table = new PolicyTable(sent.at(-1)!.policy);
    expect([0, 1].map((index) => table.groupOverride(index))).toEqual([0, GroupOverride.BlockAll]);
    expect([0, 1].map((index) => table.groupNextFlipAtSecs(index))).toEqual([0, 60]);
  });

  test('apply() keeps the client table until a change affects the groups of clients', async () => {
    const table = async (next: Partial<PolicyRows>): Promise<SharedArrayBuffer> => {
      rows = async () => structuredClone({ ...ROWS, ...next });
      await policy.apply();
      return sent.at(-1)!.clients;
    };
    const subnets = [{ cidr: '192.0.2.0/24', groupId: 7 }];
    const first = await table({ subnets });
    expect(await table({ subnets, blockedServices: [] })).toBe(first);
    const groups = [
      { id: 1, enabled: true },
      { id: 7, enabled: false },
    ];
    const others: Partial<PolicyRows>[] = [
      { subnets, groups },
      { subnets: [{ cidr: '192.0.2.0/24', groupId: 1 }] },
      { subnets: [] },
      { clients: [{ address: '192.0.2.1', groupId: 7 }] },
    ];
    const tables = [first];
    for (const other of others) tables.push(await table(other));
    opened.live = () => ({ ...NOTHING_LIVE, clientAddresses: [{ address: '192.0.2.1', groupId: 7 }] });
    await policy.applyLive();
    expect(new Set([...tables, sent.at(-1)!.clients]).size).toBe(6);
  });

  test('useRules() and applySettings() are retried without the database if threads did not apply them', async () => {
    opened.broadcast = () => Promise.reject(new Error('worker 1 did not answer'));
    await expect(policy.useRules(RULES)).rejects.toThrow('worker 1 did not answer');
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    opened.broadcast = opened.take;
    await until(
      'the snapshot to be sent',
      () => sent.length,
      (count) => count > 0,
    );
    expect(sent[0]!.rules).toBe(RULES.rules);
  });

  test('apply() publishes nothing if the rows cannot be read', async () => {
    await policy.useRules(RULES);
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    await expect(policy.apply()).rejects.toThrow('down');
    expect(sent).toHaveLength(1);
  });

  test('close() ends retries of failed activations', async () => {
    rows = () => Promise.reject(new DatabaseUnavailable('down'));
    await expect(policy.apply()).rejects.toThrow('down');
    await policy.close();
    let reads = 0;
    rows = async () => {
      reads++;
      return ROWS;
    };
    await policy.applyLive();
    expect(reads).toBe(0);
    await policy.apply();
    expect([reads, sent.length]).toEqual([1, 2]);
  });

  test('apply() never activates older rows after newer rows', async () => {
    let count = 1;
    rows = async () => {
      const groups = Array.from({ length: count++ }, (_, index) => ({ id: index + 1, enabled: true }));
      await new Promise((resolve) => setTimeout(resolve, count % 3));
      return { ...ROWS, groups };
    };
    await Promise.all([
      policy.apply(),
      policy.useRules(RULES),
      policy.apply(),
      policy.applyLive(),
      policy.applySettings(),
    ]);
    const counts = sent.map((snapshot) => new PolicyTable(snapshot.policy).groupCount);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(sent.at(-1)!.rules).toBe(RULES.rules);
  });
});
