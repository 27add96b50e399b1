import { beforeEach, describe, expect, test } from '@jest/globals';
import { CompatSuite } from '../../../test/support/parts/compat-suite.ts';
import { loggedDay } from '../../../test/support/parts/logged-day.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import type {
  CompatBlocking,
  CompatFtlInfo,
  CompatVersion,
} from '../../../shared/api/compat/compat-node-api.ts';
import { insertRule, MANAGED_DOMAINS } from '../../filtering/rules/rule-store.ts';
import { type BlockingSwitch, NO_POLICY_ROWS } from '../../policy/change/rows.ts';

let override: BlockingSwitch | null = null;
const compat = new CompatSuite({
  toml: 'auth.enabled = false',
  given: { policyRows: () => ({ ...NO_POLICY_ROWS, blockingSwitch: override }) },
});
beforeEach(() => {
  override = null;
});

describe('the node information of the compatibility API', () => {
  test('reports whether queries are blocked, and for how many whole seconds', async () => {
    const read = async (): Promise<unknown[]> => {
      const { blocking, timer } = await compat.open<CompatBlocking>('/api/dns/blocking');
      return [blocking, timer];
    };
    expect(await read()).toEqual(['enabled', null]);
    const until = new Date(compat.api.clock.nowMs() + 29_500).toISOString();
    override = { enabled: false, until };
    expect(await read()).toEqual(['disabled', 30]);
    compat.api.clock.advanceSecs(30);
    expect(await read()).toEqual(['enabled', null]);
    override = { enabled: false, until: null };
    expect(await read()).toEqual(['disabled', null]);
  });

  test('reports versions that need no update', async () => {
    const { version } = await compat.open<CompatVersion>('/api/info/version');
    for (const { local, remote } of [version.core, version.web, version.ftl]) {
      expect(local.version).toMatch(/^v6\.\d+\.\d+$/);
      expect([remote.version, remote.hash]).toEqual([local.version, local.hash]);
    }
  });

  test('requires less access for machine data than for policy data, and counts disabled rules', async () => {
    for (const [name, enabled] of [
      ['games.example', true],
      ['ads.example', false],
    ] as const)
      await insertRule(compat.suite.database, MANAGED_DOMAINS, {
        ...{ name, text: name, action: 'deny', group_id: null, comment: '', enabled },
      });
    await storeRows(compat.suite.database, loggedDay(compat.api.clock.nowMs()));
    const { ftl } = await compat.open<CompatFtlInfo>('/api/info/ftl');
    expect(ftl).toMatchObject({ pid: process.pid, privacy_level: 0, clients: { active: 3, total: 3 } });
    expect(ftl.database).toMatchObject({
      gravity: 12,
      groups: 0,
      domains: { allowed: { total: 0, enabled: 0 }, denied: { total: 2, enabled: 1 } },
    });
    await compat.open('/api/info/system');
    await compat.open('/api/info/login');
  });

  test('reports without a session that DNS is answered', async () => {
    await compat.restart('');
    expect((await compat.send('GET', '/api/info/login')).body).toMatchObject({ dns: true, https_port: 0 });
    for (const path of ['/api/info/version', '/api/padd', '/api/dns/blocking'])
      expect((await compat.send('GET', path)).status).toBe(401);
  });
});
