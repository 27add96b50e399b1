/** Exports of other programs: what the report counts, and whether the same questions are answered as there. */
import { describe, expect, test } from '@jest/globals';
import type { ImportReport } from '../../shared/api/imports-api.ts';
import { type ExpectedStatus, importSuite, itemsOf } from '../../test/support/parts/import-suite.ts';
import { importedPolicy } from '../../test/support/parts/imported-policy.ts';
import * as adguard from '../../test/support/weir/adguard-exports.ts';

const { suite, imported } = importSuite();

/** The same rows with the status that this Weir gives. */
async function answered(
  table: readonly ExpectedStatus[],
  texts: Readonly<Record<string, string>> = {},
): Promise<ExpectedStatus[]> {
  const ask = await importedPolicy(suite().database, texts);
  return table.map(([client, name, qtype]) => [client, name, qtype, ask(client, name, qtype).status]);
}

/** Names of what has no equivalent; keys of the configuration, which are not applied, are left out. */
function notMapped({ items }: ImportReport): string[] {
  const isKey = (reason: string | null): boolean => reason?.startsWith('set in the configuration') === true;
  return items.flatMap(({ name, result, reason }) =>
    result === 'not_mapped' && !isKey(reason) ? [name] : [],
  );
}

/** Expects that the same file a second time changes nothing. */
async function expectRepeatable(file: Uint8Array | string): Promise<void> {
  expect(await imported(file)).toMatchObject({ revision: null, counts: { done: 0, changed: 0 } });
}

describe('POST {api}/import of an AdGuard Home', () => {
  test('answers as schema 34 did, client by client', async () => {
    const report = await imported(adguard.schema34());
    expect(await answered(adguard.ANSWERS_34, adguard.LIST_TEXTS)).toEqual(adguard.ANSWERS_34);
    expect(report).toMatchObject({
      format: 'adguard_home',
      counts: { done: 42, changed: 1, skipped: 1, not_mapped: 42 },
    });
    expect(notMapped(report)).toEqual(adguard.NOT_MAPPED_34);
    expect(report.configuration).toContain('strategy = "Parallel"\npriority = 1\nservers = ["https://dns.ex');
    expect(report.configuration).toContain('[blocking]\nenabled = true\nmode = "null_ip"\nttl_secs = 10\n');
    expect(JSON.stringify(report)).not.toMatch(/hunter2|PRIVATE KEY/);
    await expectRepeatable(adguard.schema34());
  });

  test('keeps rules that count among each other only in one list', async () => {
    const report = await imported(adguard.TANGLED);
    const table: ExpectedStatus[] = [
      ['192.0.2.1', 'denied.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.1', 'good.denied.example', 1, 'FORWARDED'],
      ['192.0.2.1', 'never.example', 1, 'BLOCKED_LIST'],
      ['192.0.2.1', 'back.example', 1, 'FORWARDED'],
    ];
    expect(await answered(table)).toEqual(table);
    expect(itemsOf(report, 'managed_domain')).toEqual({});
    expect(report.configuration).toContain('[blocking]\nenabled = false\nmode = "custom_ip"\n');
    await expectRepeatable(adguard.TANGLED);
  });

  test('reads older schemas', async () => {
    const report = await imported(adguard.schema12());
    expect(itemsOf(report, 'safe_search')).toMatchObject({ google: 'done', youtube: 'done', bing: 'done' });
    expect(itemsOf(report, 'service')).toEqual({ tiktok: 'done' });
    const table: ExpectedStatus[] = [
      ['192.0.2.31', 'denied.example', 1, 'BLOCKED_MANAGED'],
      ['192.0.2.31', 'nas.lan', 1, 'LOCAL'],
      ['192.0.2.31', 'tiktok.com', 1, 'BLOCKED_SERVICE'],
    ];
    expect(await answered(table)).toEqual(table);
    const later = await imported(adguard.SCHEMA_20);
    expect(itemsOf(later, 'safe_search')).toEqual({
      google: 'skipped: Weir has it already',
      'bing (AdGuard Home: Phone)': 'done',
    });
  });
});
