import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../shared/clock.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { LeaseWatch } from './lease-watch.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-leases-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('refresh() of lease files', () => {
  test('follows files that are created, changed and deleted, and does not read device files', async () => {
    const file = join(folder, 'leases');
    const logger = new MemoryLogger();
    let paths: string[] = [file, '/dev/zero'];
    const watch = new LeaseWatch({ paths: () => paths, clock: systemClock, logger });
    writeFileSync(file, '0 02:00:5e:10:00:01 192.0.2.44 laptop *\n');
    expect(await watch.refresh()).toBe(true);
    expect(watch.all()).toMatchObject([{ address: '192.0.2.44', hostname: 'laptop' }]);
    expect(logger.text()).toContain('not a regular file');
    expect(await watch.refresh()).toBe(false);
    writeFileSync(file, '0 02:00:5e:10:00:01 192.0.2.45 notebook *\n');
    expect(await watch.refresh()).toBe(true);
    expect(watch.hostnameOf(null, '02:00:5e:10:00:01')).toBe('notebook');
    paths = [];
    expect(await watch.refresh()).toBe(true);
    expect(watch.all()).toEqual([]);
  });
});
