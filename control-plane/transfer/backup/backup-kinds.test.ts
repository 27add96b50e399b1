import { describe, expect, test } from '@jest/globals';
import { BackupFile } from '../../../shared/api/policy/backup-api.ts';
import { KINDS } from './backup-kinds.ts';

describe('the kinds of objects in a backup', () => {
  test('are those of the file format, each once', () => {
    const head = ['format', 'version', 'created_at', 'weir', 'node', 'has_secrets'];
    const others = [...head, 'node_configuration', 'dns_settings', 'secrets'];
    expect(KINDS.map(({ name }) => name)).toEqual(
      Object.keys(BackupFile.shape).filter((name) => !others.includes(name)),
    );
  });
});
