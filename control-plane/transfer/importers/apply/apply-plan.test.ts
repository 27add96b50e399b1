/** Plans applied to a real PostgreSQL; the requests of imports are in `import-routes.test.ts`. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ImportReport } from '../../../../shared/api/imports-api.ts';
import { openSuiteDatabase, type SuiteDatabase } from '../../../../test/support/parts/suite-database.ts';
import { PolicyChanges } from '../../../policy/change/change.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { applyPlan } from './apply-plan.ts';

const AUTHOR = { name: 'admin', address: '192.0.2.7' };
let suite: SuiteDatabase;
beforeAll(async () => {
  suite = await openSuiteDatabase();
});
beforeEach(() => suite.reset());
afterAll(() => suite.close());

async function applied(add: (builder: PlanBuilder) => void): Promise<ImportReport> {
  const builder = new PlanBuilder();
  add(builder);
  const active = { apply: () => Promise.resolve(), threadsBehind: () => 0 };
  const parts = {
    policy: new PolicyChanges(suite.database, active),
    clients: { takeOver: () => undefined },
    sources: { adopt: (_written: unknown, _isNew: unknown, apply: () => Promise<void>) => apply() },
    catalog: { get: () => undefined },
    localNames: { live: () => ({ configRecords: [] }) },
    nodeName: 'node-a',
    listDirs: () => [],
    configuration: { change: () => Promise.reject(new Error('no setting is chosen')) },
    site: () => '',
  };
  const choices = { settings: [], same: [], answers: new Map(), queries: null };
  return applyPlan(parts, builder.finish('pihole'), choices, { author: AUTHOR, isDryRun: false });
}

async function rowsOf(text: string): Promise<Record<string, unknown>[]> {
  return (await suite.database.query<Record<string, unknown>>(text)).rows;
}

describe('applyPlan()', () => {
  test('disables filters of the file beyond the limit, and reports them', async () => {
    const add = (builder: PlanBuilder): void => {
      for (let index = 0; index < 300; index++) {
        const [one, other] = [index % 26, Math.floor(index / 26)].map((at) => String.fromCharCode(97 + at));
        const text = `[${one!}-z][a-z0-9.-]{6}${other!}${one!}`;
        const rule = { action: 'deny', groups: ['Default'], comment: '', enabled: true } as const;
        builder.rule({ ...rule, table: 'regex_filters', text }, builder.item('regex_filter', text));
      }
    };
    const { counts, items } = await applied(add);
    expect(counts).toEqual({ done: 300, changed: 0, skipped: 0, not_mapped: 0, differs: 0 });
    const refused = items.filter(({ reason }) => reason?.startsWith('disabled: ') === true);
    expect(refused.length).toBeGreaterThan(0);
    const disabled = await rowsOf('SELECT pattern FROM regex_filters WHERE NOT enabled');
    expect(new Set(disabled.map(({ pattern }) => pattern))).toEqual(new Set(refused.map(({ name }) => name)));
  });

  test('applies rules for Default to the local default group, which keeps its name', async () => {
    await suite.database.query(`UPDATE groups SET name = 'Everyone', comment = 'mine' WHERE id = 1`);
    await suite.database.query(`INSERT INTO groups (name, comment) VALUES ('KIDS', 'mine')`);
    const rule = { table: 'managed_domains', action: 'deny', comment: '', enabled: true } as const;
    const { counts } = await applied((builder) => {
      const kids = builder.group('Kids', { enabled: false, comment: '' }, builder.item('group', 'Kids'));
      const item = builder.item('managed_domain', 'a.example');
      builder.rule({ ...rule, text: 'a.example', groups: ['Default', kids] }, item);
    });
    expect(counts).toMatchObject({ done: 1, changed: 1 });
    expect(await rowsOf('SELECT name, comment, enabled FROM groups ORDER BY id')).toEqual([
      { name: 'Everyone', comment: 'mine', enabled: true },
      { name: 'KIDS', comment: 'mine', enabled: false },
    ]);
    expect(
      await rowsOf(
        `SELECT g.name FROM managed_domains d JOIN groups g ON g.id = d.group_id ORDER BY d.group_id`,
      ),
    ).toEqual([{ name: 'Everyone' }, { name: 'KIDS' }]);
  });

  test('names a client that was only observed so far, and keeps its observed data', async () => {
    await suite.database.query(
      `INSERT INTO clients (mac_address, ip_address, hostname, last_seen)
       VALUES ('02:00:5e:00:00:01', '192.0.2.9', 'tv.lan', now())`,
    );
    const add = (builder: PlanBuilder): void =>
      builder.client(
        { mac: '02:00:5e:00:00:01', ip: null, key: null, name: 'TV', group: null },
        builder.item('client', 'TV'),
      );
    await applied(add);
    expect(await rowsOf('SELECT name, host(ip_address) AS ip, hostname FROM clients')).toEqual([
      { name: 'TV', ip: '192.0.2.9', hostname: 'tv.lan' },
    ]);
    expect(await applied(add)).toMatchObject({ revision: null, counts: { skipped: 1 } });
  });

  test('stores DNS settings in the audit log', async () => {
    const { counts, revision } = await applied((builder) =>
      builder.setting({ local_domain: 'lan' }, builder.item('setting', 'domain')),
    );
    expect([counts.changed, revision]).toEqual([1, expect.any(Number)]);
    expect(await rowsOf('SELECT after FROM audit_log')).toEqual([
      { after: { 'config_values dns.local_domain': expect.objectContaining({ value: 'lan' }) } },
    ]);
  });
});
