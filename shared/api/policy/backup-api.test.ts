import { describe, expect, test } from '@jest/globals';
import { BACKUP_VERSION, BackupFile } from './backup-api.ts';

const HEAD = {
  format: 'weir-backup',
  created_at: '2026-01-15T12:00:00Z',
  weir: '0',
  node: 'a',
  has_secrets: false,
};

describe('BackupFile', () => {
  test('accepts a file of this version with objects of any kind', () => {
    const version = BACKUP_VERSION;
    expect(BackupFile.parse({ ...HEAD, version })).toEqual({ ...HEAD, version });
    const client = { mac_address: '02-00-5E-10-00-01' };
    expect(BackupFile.parse({ ...HEAD, version, clients: [client] }).clients).toEqual([
      {
        ...{ mac_address: '02:00:5e:10:00:01', ip_address: null, client_key: null, name: null, group: null },
        ...{ exclude_from_log: false, exclude_from_stats: false, device: null },
      },
    ]);
  });

  test('rejects a file of a newer version with a message', () => {
    const { error } = BackupFile.safeParse({ ...HEAD, version: BACKUP_VERSION + 1 });
    expect(error!.issues).toMatchObject([
      { path: ['version'], message: expect.stringContaining('made by a newer version of Weir') },
    ]);
  });
});
