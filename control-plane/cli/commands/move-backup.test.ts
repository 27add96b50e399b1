import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cannedRun } from '../../../test/support/parts/canned-answer.ts';
import { restoreFile, writeBackup } from './move-backup.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-backup-'));
  await writeFile(join(folder, 'b.json'), '{"format": "weir-backup"}');
});
afterAll(() => rm(folder, { recursive: true }));

const none = { count: 0, names: [] };

describe('restoreFile()', () => {
  test('shows the first names of what changes, and lets none steer the terminal', async () => {
    const names = ['a\u001b[2J', 'b', 'c', 'd', 'e', 'f'];
    const change = { kind: 'managed_domains', created: { count: 6, names }, changed: none, removed: none };
    const run = cannedRun({ dry_run: false, revision: 7, changes: [change] }, [join(folder, 'b.json')]);
    expect(await restoreFile(run)).toBe(0);
    expect(run.screen.lines).toEqual([
      'KIND             NEW  CHANGED  REMOVED  NAMES',
      'managed domains    6        0        0  a\\u{1b}[2J, b, c, d, e and 1 more',
      '',
      'revision 7; roll back to undo it',
    ]);
    expect(run.sent).toEqual([{ url: '/api/restore?dry_run=false', body: { format: 'weir-backup' } }]);
  });
});

describe('writeBackup()', () => {
  test('prints what JSON may hold and a terminal must not get as escapes', async () => {
    const run = cannedRun({ name: 'a\u202eb' }, [], { secrets: true });
    await writeBackup(run);
    expect(run.screen.lines.join('\n')).toContain('"a\\u202eb"');
    expect(run.sent[0]!.url).toBe('/api/backup?secrets=true');
  });
});
