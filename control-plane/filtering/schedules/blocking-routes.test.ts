import { describe, expect, test } from '@jest/globals';
import { NO_LOCAL_SWITCH } from '../../../test/support/parts/every-route.ts';
import type { RunningApi } from '../../../test/support/parts/running-api.ts';
import { serveSuite } from '../../../test/support/parts/served-suite.ts';
import type { SuiteDatabase } from '../../../test/support/parts/suite-database.ts';
import { blockingRoutes } from './blocking-routes.ts';

let suite: SuiteDatabase;
let api: RunningApi;
serveSuite(
  (parts) => blockingRoutes({ ...parts, ...NO_LOCAL_SWITCH, policyRows: () => ({ blockingSwitch: null }) }),
  (served) => ({ suite, api } = served),
);

describe('POST /blocking and DELETE /blocking', () => {
  test('write an audit entry with the switch before and after, but no revision', async () => {
    await api.send('POST', '/api/blocking', { json: { enabled: false, timer_secs: 60 } });
    await api.send('POST', '/api/blocking', { json: { enabled: true } });
    await api.send('DELETE', '/api/blocking');
    const { rows } = await suite.database.query(
      'SELECT action, subject, before, after, revision FROM audit_log ORDER BY id',
    );
    const until = new Date(api.clock.nowMs() + 60_000).toISOString();
    const common = { subject: 'blocking', revision: null };
    expect(rows).toMatchObject([
      { ...common, action: 'switched off', before: null, after: { enabled: false, until } },
      { ...common, action: 'switched on', before: { enabled: false }, after: { enabled: true, until: null } },
      {
        ...common,
        action: 'returned to the configuration',
        before: { enabled: true, until: null },
        after: null,
      },
    ]);
    expect((await suite.database.query('SELECT FROM revisions')).rows).toEqual([]);
  });
});
