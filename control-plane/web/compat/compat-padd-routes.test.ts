import { beforeEach, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { CompatSuite } from '../../../test/support/parts/compat-suite.ts';
import { loggedDay } from '../../../test/support/parts/logged-day.ts';
import { storeRows } from '../../../test/support/parts/stored-log.ts';
import type { CompatSummary } from '../../../shared/api/compat/compat-api.ts';
import type { CompatPadd } from '../../../shared/api/compat/compat-node-api.ts';

const compat = new CompatSuite({ toml: 'auth.enabled = false' });
beforeEach(() => storeRows(compat.suite.database, loggedDay(compat.api.clock.nowMs())));

describe('the data for PADD in the compatibility API', () => {
  test('equals the summary, and has fewer other fields without full=true', async () => {
    const { queries } = await compat.open<CompatSummary>('/api/stats/summary');
    const { total, blocked, percent_blocked } = queries;
    const full = await compat.open<CompatPadd>('/api/padd?full=true');
    expect(full.queries).toEqual({ total, blocked, percent_blocked });
    expect(full.recent_blocked).toMatch(/^(?:blocked-|local-1)/);
    expect([full.top_domain, full.top_blocked, full.top_client].every((text) => text !== null)).toBe(true);
    expect([full.blocking, full.config.dns_port, full.node_name]).toEqual(['enabled', 5353, 'node-a']);
    const short = await compat.open<CompatPadd>('/api/padd?full=false');
    expect(Object.keys(full).filter((name) => !(name in short))).toEqual(['iface', 'version']);
  });

  test('contains nulls and zeros on a node without queries', async () => {
    await asOwner(compat.suite.database, 'TRUNCATE query_blocks, query_runs, query_counts');
    const { recent_blocked, top_domain, top_blocked, top_client, queries } =
      await compat.open<CompatPadd>('/api/padd');
    expect([recent_blocked, top_domain, top_blocked, top_client]).toEqual([null, null, null, null]);
    expect(queries).toEqual({ total: 0, blocked: 0, percent_blocked: 0 });
  });
});
