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
  test('shows the first names of changed items, with control characters escaped', async () => {
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
      'not restored: api tokens g\\u{1b} (viewer): the backup does not contain its secret',
    ]);
    expect(run.sent).toEqual([{ url: '/api/restore?dry_run=false', body: { format: 'weir-backup' } }]);
    const same = cannedRun({ ...answer, changes: [] }, [join(folder, 'b.json')]);
    await restoreFile(same);
    expect(same.screen.lines).toEqual(['there is nothing to change', expect.stringMatching(/^not restored/)]);
  });
});

describe('writeBackup()', () => {
  test('writes control characters in JSON as escapes', async () => {
    const run = cannedRun({ name: 'a\u202eb' }, []);
    await writeBackup(run);
    expect(run.screen.lines.join('\n')).toContain('"a\\u202eb"');
    expect(run.sent[0]!.url).toBe('/api/backup');
  });

  test('sends the passphrase from a file in the request body, and refuses a short passphrase', async () => {
    const file = join(folder, 'passphrase');
    await writeFile(file, 'correct horse battery\nsecond line\n');
    const run = cannedRun({}, [], { secrets: true, 'passphrase-file': file });
    await writeBackup(run);
    expect(run.sent).toEqual([{ url: '/api/backup', body: { passphrase: 'correct horse battery' } }]);
    await writeFile(file, 'elevenchars\n');
    await expect(writeBackup(run)).rejects.toThrow('the passphrase has 11 characters; use 12 or more');
    const sealed = join(folder, 'sealed.json');
    await writeFile(sealed, '{"secrets": {}}');
    const back = cannedRun({ changes: [], left_out: [] }, [sealed], { 'passphrase-file': file });
    await restoreFile(back);
    expect(back.sent[0]!.body).toEqual({ secrets: {}, passphrase: 'elevenchars' });
    const { 'passphrase-file': _file, ...none } = back.options;
    await expect(
      restoreFile({ ...back, options: { ...none, 'passphrase-file': join(folder, 'gone') } }),
    ).rejects.toThrow('ENOENT');
  });
});
