/** Every route that changes something adds one entry to the audit log, and none if it fails. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AuditLogPage } from '../../../shared/api/audit-api.ts';
import type { AuditLogEntry } from '../../../shared/api/audit-api.ts';
import { ChangingApi } from '../../support/parts/changing-api.ts';
import { CHANGING, entriesOf } from '../../support/parts/api-changes.ts';

let changing: ChangingApi;
beforeAll(async () => {
  changing = await ChangingApi.open();
});
afterAll(() => changing.close());

const rows = CHANGING.map((route) => ({ name: `${route.method} ${route.path}`, route }));

async function newest(limit = 3): Promise<{ total: number; entries: AuditLogEntry[] }> {
  const { body } = await changing.api.send('GET', `/api/audit-log?limit=${limit}`);
  const { total, data } = AuditLogPage.parse(body);
  return { total, entries: data.filter(({ actor }) => actor !== 'system') };
}

async function countOfPeople(): Promise<number> {
  const { rows: counted } = await changing.database.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM audit_log WHERE actor <> 'system'`,
  );
  return counted[0]!.count;
}

describe('a route that changes something', () => {
  test.each(rows)('$name adds one audit log entry with its user, address and change', async ({ route }) => {
    const mutation = await changing.prepare(route);
    const before = await countOfPeople();
    const headers = { ...mutation.headers, prefer: 'wait=1' };
    const answer = await changing.send({ ...mutation, headers });
    expect([answer.status, answer.text]).toEqual([route.status, expect.any(String)]);
    expect(answer.headers['preference-applied']).toBe(route.waits ? 'wait=1' : undefined);
    expect((await countOfPeople()) - before).toBe(entriesOf(route));
    if (entriesOf(route) === 0) return;
    const [entry] = (await newest()).entries;
    expect(entry).toMatchObject({ author: 'admin', ip_address: '127.0.0.1', left_out: 0 });
    expect(entry!.subject).not.toBe('');
    const revision = answer.headers['weir-revision'];
    expect(entry!.revision).toBe(revision === undefined ? null : Number(revision));
  });

  test('can wait for all nodes, except for a listed set of operations', () => {
    const others = rows.filter(({ route }) => route.access !== 'public' && !route.waits);
    expect(others.map(({ name }) => name).toSorted()).toEqual([
      'DELETE /cache/entries',
      'POST /allowlist-sources/refresh',
      'POST /allowlist-sources/{id}/refresh',
      'POST /backup',
      'POST /blocklist-sources/refresh',
      'POST /blocklist-sources/{id}/refresh',
      'POST /clients/clear',
      'POST /queries/clears',
      'POST /tls/acme',
      'POST /tls/generate',
      'POST /whitelist-sources/refresh',
      'POST /whitelist-sources/{id}/refresh',
    ]);
  });

  test.each(rows)('$name adds no audit log entry if it fails', async ({ route }) => {
    const before = await countOfPeople();
    const path = route.path.replaceAll(/\{\w*id\}/g, '2147483647');
    const refused = await changing.api.send(route.method, `/api${path}?unknown=1`, { json: {} });
    expect(refused.status).toBe(400);
    const bad = await changing.api.send(route.method, `/api${path}`, { json: { unknown: 1 } });
    expect([400, 404, 415]).toContain(bad.status);
    if (route.params !== undefined && route.body === undefined) {
      const missing = await changing.api.send(route.method, `/api${path}`);
      // For a group that does not exist, disabling engines succeeds, because the engines are already disabled.
      if (!route.path.startsWith('/safe-search')) expect(missing.status).toBe(404);
    }
    expect(await countOfPeople()).toBe(before);
  });
});

describe('a change that is sent twice', () => {
  test('adds one audit log entry for the first request, and none for the second', async () => {
    const json = { never_forward_non_fqdn: true };
    await changing.api.send('PUT', '/api/settings', { json });
    const before = await countOfPeople();
    const again = await changing.api.send('PUT', '/api/settings', { json });
    expect([again.status, again.headers['weir-revision']]).toEqual([200, undefined]);
    expect(await countOfPeople()).toBe(before);
  });

  test('adds one audit log entry if two concurrent requests create the same object', async () => {
    const before = await countOfPeople();
    const json = { name: 'at once' };
    const answers = await Promise.all(
      [1, 2, 3].map(() => changing.api.send('POST', '/api/groups', { json })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect((await countOfPeople()) - before).toBe(1);
  });
});
