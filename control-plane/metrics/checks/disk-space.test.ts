import { describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { type DiskState, DiskSpace, diskCheck } from './disk-space.ts';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

describe('DiskSpace', () => {
  test('measures the disk and the spool of a data directory', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'weir-disk-'));
    const disk = new DiskSpace(dataDir, new MemoryLogger());
    expect(disk.now()).toBeNull();
    await disk.check();
    expect(disk.now()).toMatchObject({ spoolBytes: null, hasNoInodes: false });
    expect(disk.now()!.sizeBytes).toBeGreaterThan(disk.now()!.freeBytes);
    mkdirSync(join(dataDir, 'spool'));
    writeFileSync(join(dataDir, 'spool', '000000000001.blocks'), Buffer.alloc(1000));
    await disk.check();
    expect(disk.now()).toMatchObject({ spoolBytes: 1000 });
    rmSync(dataDir, { recursive: true });
  });

  test('keeps the last measurement, and logs once that measuring fails', async () => {
    const logger = new MemoryLogger();
    const disk = new DiskSpace('/no/such/folder', logger);
    await disk.check();
    await disk.check();
    expect(disk.now()).toBeNull();
    expect(logger.text().match(/could not measure the free disk space/g)).toHaveLength(1);
  });
});

describe('diskCheck()', () => {
  const state = (more: Partial<DiskState>): DiskState => ({
    freeBytes: 50 * GIB,
    sizeBytes: 100 * GIB,
    hasNoInodes: false,
    spoolBytes: null,
    ...more,
  });

  test.each([
    [{}, undefined],
    [{ freeBytes: 1.1 * GIB }, undefined],
    [{ freeBytes: 0.5 * GIB }, 'the disk of the data directory is nearly full: 512 MiB of 102400 MiB left'],
    [{ freeBytes: 100 * MIB, sizeBytes: GIB }, undefined],
    [
      { freeBytes: 40 * MIB, sizeBytes: GIB },
      'the disk of the data directory is nearly full: 40 MiB of 1024 MiB left',
    ],
    [{ freeBytes: 4096 }, 'the disk of the data directory is full'],
    [{ hasNoInodes: true }, 'the disk of the data directory is full: it has no inodes left'],
    [{ spoolBytes: 0.5 * GIB }, undefined],
    [{ spoolBytes: 1.5 * GIB }, 'the spool of the query log is nearly full: 1536 MiB of at most 2048 MiB'],
  ])('of %j reports %s', (more, detail) => {
    const check = diskCheck(state(more), 2 * GIB);
    expect(check).toEqual(detail === undefined ? { status: 'ok' } : { status: 'degraded', detail });
  });
});
