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
    const left = { kind: 'api_tokens', name: 'g\u001b (viewer)', reason: 'key_not_in_backup' };
    const answer = { dry_run: false, revision: 7, changes: [change], left_out: [left] };
    const run = cannedRun(answer, [join(folder, 'b.json')]);
    expect(await restoreFile(run)).toBe(0);
    expect(run.screen.lines).toEqual([
      'KIND             NEW  CHANGED  REMOVED  NAMES',
      'managed domains    6        0        0  a\\u{1b}[2J, b, c, d, e and 1 more',
      '',
      'revision 7; roll back to undo it',
      'not restored: api tokens g\\u{1b} (viewer): its key is not in the backup',
    ]);
    expect(run.sent).toEqual([{ url: '/api/restore?dry_run=false', body: { format: 'weir-backup' } }]);
    const same = cannedRun({ ...answer, changes: [] }, [join(folder, 'b.json')]);
    await restoreFile(same);
    expect(same.screen.lines).toEqual(['there is nothing to change', expect.stringMatching(/^not restored/)]);
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
