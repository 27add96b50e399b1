/**
 * Each key that needs no restart, changed over the API of a running Weir server. Its effect is observed before the
 * change and immediately after its response.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DNS_KEYS } from './live-dns-keys.ts';
import { DNSSEC_KEYS } from './live-dnssec-keys.ts';
import { LIMIT_KEYS } from './live-limit-keys.ts';
import { LiveFixture } from './live-fixture.ts';
import type { KeyValues, LiveKey } from './live-fixture.ts';
import { WEB_KEYS } from './live-web-keys.ts';

let fixture: LiveFixture;
let before: KeyValues = {};

beforeAll(async () => {
  fixture = await LiveFixture.open();
  await fixture.api.expect(201, 'POST', '/managed-domains', { domain: 'ads.example.net', action: 'deny' });
});
afterEach(async () => {
  fixture.scripted.udpScript = () => undefined;
  await fixture.set(before);
  before = {};
});
afterAll(() => fixture.close());

const keys: readonly LiveKey[] = [...DNS_KEYS, ...DNSSEC_KEYS, ...LIMIT_KEYS, ...WEB_KEYS];

describe('a key of the configuration', () => {
  test.each(keys)('$key is active when the response to its change arrives', async (row) => {
    const alongside = (typeof row.alongside === 'function' ? row.alongside(fixture) : row.alongside) ?? {};
    before = await fixture.values([...Object.keys(alongside), row.key]);
    if (Object.keys(alongside).length > 0) await fixture.set(alongside);
    expect(await row.observe(fixture)).toEqual(row.before);
    const to: unknown =
      typeof row.to === 'function' ? (row.to as (fixture: LiveFixture) => unknown)(fixture) : row.to;
    expect(await fixture.set({ [row.key]: to })).toEqual({ success: true, restart_required: [] });
    expect(await row.observe(fixture)).toEqual(row.after);
  });
});
