import { describe, expect, test } from '@jest/globals';
import { readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { logRow } from '../../../test/support/parts/log-row.ts';
import { batchesOf } from '../../../test/support/parts/stored-log.ts';
import { makeTempDir } from '../../../test/support/parts/test-database.ts';
import { storeRefused } from './refused-batches.ts';

describe('storeRefused()', () => {
  test('keeps a limited number of batches, the newest ones', async () => {
    const dir = makeTempDir();
    const kept: string[] = [];
    for (let index = 0; index < 12; index++) {
      const [batch] = await batchesOf([logRow()]);
      kept.push(await storeRefused(join(dir, 'refused'), batch!));
      utimesSync(kept.at(-1)!, index, index);
    }
    const names = readdirSync(join(dir, 'refused')).map((name) => join(dir, 'refused', name));
    expect(names.sort()).toEqual(kept.slice(-8).sort());
    rmSync(dir, { recursive: true });
  });
});
