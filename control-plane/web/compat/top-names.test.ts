import { describe, expect, test } from '@jest/globals';
import { CompatSuite } from '../../../test/support/parts/compat-suite.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import type { CompatTopDomains } from '../../../shared/api/compat/compat-log-api.ts';
import { RRType } from '../../../shared/dns/iana.ts';
import { QueryStatus } from '../../../shared/query-log.ts';

const compat = new CompatSuite({ toml: 'auth.enabled = false' });

describe('the top names of the compatibility API', () => {
  test('count the target of a blocked alias, not the queried name', async () => {
    const times = [1, 2, 3].map((ago) => compat.api.clock.nowMs() - ago * 1000);
    const alias = { source: 'Ads', before: '||t.example^', after: 't.example', atName: false, lists: [] };
    const rows = times.map((timestampMs) => ({
      ...logRow({
        timestampMs,
        qname: wireName('shop.example'),
        status: QueryStatus.BLOCKED_CNAME,
        answerType: RRType.A,
      }),
      rule: alias,
    }));
    await storeRows(compat.suite.database, rows);
    const { domains } = await compat.open<CompatTopDomains>('/api/stats/top_blocked');
    expect(domains).toEqual([{ domain: 't.example', count: 3 }]);
  });
});
