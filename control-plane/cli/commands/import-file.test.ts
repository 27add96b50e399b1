import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { memoryScreen } from '../../../test/support/parts/memory-screen.ts';
import type { ImportReport } from '../../../shared/api/imports-api.ts';
import { TypedClient } from '../../../shared/api/client/typed-client.ts';
import { importFile } from './import-file.ts';

const REPORT: ImportReport = {
  format: 'pihole',
  dry_run: true,
  revision: null,
  counts: { done: 1, changed: 0, skipped: 0, not_mapped: 1, differs: 1 },
  items: [
    { kind: 'managed_domain', name: 'ads.example', action: 'deny', result: 'done', reason: null },
    { kind: 'other', name: 'dhcp\u001b[31m', action: null, result: 'not_mapped', reason: 'Weir has no DHCP' },
  ],
  settings: [
    { key: 'dns.ecs', value: 'forward', selected: true, can_select: true, reason: null },
    { key: 'dns.pools.0', value: { name: 'p' }, selected: false, can_select: true, reason: 'timeout' },
  ],
  questions: [
    {
      ...{ id: 'starting_list', kind: 'starting_list', name: 'First list', choice: 'disable' },
      choices: [
        { id: 'disable', text: 'disable it' },
        { id: 'keep', text: 'keep it' },
      ],
    },
  ],
  differences: [{ kind: 'other', name: 'localhost', reason: 'answered here', queries: 1234 }],
  configuration: '',
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-import-'));
  await writeFile(join(folder, 'export'), 'octets');
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the command against an API that returns this report; resolves with the output and the requested URL. */
async function run(
  options: Readonly<Record<string, string | true>>,
  report: ImportReport = REPORT,
  isJson = false,
): Promise<{ text: string; url: string; sent: unknown }> {
  let asked = { url: '', sent: null as unknown };
  const client = new TypedClient({
    baseUrl: 'http://weir.test/api',
    fetch: (url, { body }) => {
      asked = { url, sent: Buffer.from(body as Uint8Array).toString() };
      return Promise.resolve(Response.json(report));
    },
  });
  const screen = memoryScreen();
  expect(await importFile({ client, screen, arguments: [join(folder, 'export')], options, isJson })).toBe(0);
  return { text: screen.lines.join('\n'), ...asked };
}

describe('importFile()', () => {
  test('sends the file and the chosen options', async () => {
    const { url, sent } = await run({
      ...{ format: 'pihole', 'dry-run': true },
      ...{ settings: 'dns.ecs,dns.pools.0', answers: 'starting_list:keep' },
    });
    const query = new URL(url).searchParams;
    expect(Object.fromEntries(query)).toEqual({
      ...{ format: 'pihole', dry_run: 'true' },
      ...{ settings: 'dns.ecs,dns.pools.0', answers: 'starting_list:keep' },
    });
    expect(sent).toBe('octets');
    expect(new URL((await run({})).url).search).toBe('?dry_run=false');
  });

  test('prints items, differences, settings and open questions of an import, and that nothing was changed', async () => {
    const { text } = await run({ 'dry-run': true });
    expect(text).toMatch(/^new +managed domain, deny +ads\.example/m);
    expect(text).toMatch(/^not imported +other +dhcp\\u\{1b\}\[31m +Weir has no DHCP$/m);
    expect(text).toMatch(/^1,234 +localhost +answered here$/m);
    expect(text).toMatch(/^\[x\] +dns\.ecs +"forward"/m);
    expect(text).toMatch(/^\[ \] +dns\.pools\.0 .*timeout$/m);
    expect(text).toContain('  [x] starting_list:disable  disable it\n  [ ] starting_list:keep  keep it');
    expect(text).toContain('pihole: 1 new, 0 changed, 0 skipped, 1 not imported, 1 different');
    expect(text).toContain('nothing was changed: this was a dry run');
  });

  test.each([
    [7, 'revision 7; roll back to undo it'],
    [null, 'Weir already had everything'],
  ])('prints how to undo the import for revision %j', async (revision, expected) => {
    const report = { ...REPORT, dry_run: false, revision, settings: [], questions: [], differences: [] };
    const { text } = await run({}, report);
    expect(text.endsWith(expected)).toBe(true);
    expect(text).not.toContain('--settings');
  });

  test('prints the report unchanged with --json', async () => {
    expect(JSON.parse((await run({}, REPORT, true)).text)).toEqual(REPORT);
  });
});
