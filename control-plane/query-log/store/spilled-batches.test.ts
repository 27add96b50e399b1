import { describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { LogWriters } from '../../../test/support/parts/log-writers.ts';
import { storedRows } from '../../../test/support/parts/stored-log.ts';
import { until } from '../../../test/support/parts/until.ts';

const suite = new LogWriters();

describe('SpilledBatches', () => {
  test('while the database is down, writes rows to a spool that only Weir can read, and stores them later', async () => {
    const { database, come } = suite.away();
    const { writer, spool } = suite.open({ database });
    for (const name of ['first.example', 'second.example']) {
      writer.append(logRow({ qname: wireName(name) }));
      await writer.flush();
    }
    const files = readdirSync(spool);
    expect(files).toHaveLength(1);
    expect(statSync(spool).mode & 0o777).toBe(0o700);
    expect(statSync(join(spool, files[0]!)).mode & 0o777).toBe(0o600);
    expect(writer.counters()).toEqual({ written: 0, spooled: 2, dropped: 0, refused: 0, waiting: 0 });
    come();
    await until(
      'the spool to be empty',
      () => readdirSync(spool),
      (all) => all.length === 0,
    );
    expect(await suite.storedDomains()).toEqual(['first.example', 'second.example']);
    expect(writer.counters()).toEqual({ written: 2, spooled: 2, dropped: 0, refused: 0, waiting: 0 });
  });

  test('stores the spool of an earlier run, up to the place where its file is truncated', async () => {
    const { database } = suite.away();
    const first = suite.open({ database });
    for (const name of ['whole.example', 'cut.example']) {
      first.writer.append(logRow({ qname: wireName(name) }));
      await first.writer.flush();
    }
    await first.writer.close();
    const file = join(first.spool, readdirSync(first.spool)[0]!);
    writeFileSync(file, readFileSync(file).subarray(0, -5));
    const second = suite.open({ dataDir: join(first.spool, '..') });
    await until(
      'the spool to be empty',
      () => readdirSync(first.spool),
      (all) => all.length === 0,
    );
    expect(await suite.storedDomains()).toEqual(['whole.example']);
    expect(second.logger.text()).toContain('a file of the query log spool is damaged');
  });

  test('does not store a batch again if it was stored but its file was not deleted', async () => {
    const { database } = suite.away();
    const first = suite.open({ database });
    first.writer.append(logRow());
    await first.writer.close();
    const file = join(first.spool, readdirSync(first.spool)[0]!);
    const content = readFileSync(file);
    for (let round = 0; round < 2; round++) {
      writeFileSync(file, content);
      const { writer } = suite.open({ dataDir: join(first.spool, '..') });
      await until(
        'the spool to be empty',
        () => readdirSync(first.spool),
        (all) => all.length === 0,
      );
      await writer.close();
    }
    expect(await suite.storedDomains()).toEqual(['www.example.org']);
  });

  test('deletes the oldest rows when the spool is full, and counts them', async () => {
    const { database, come } = suite.away();
    const { writer, spool, logger } = suite.open({ database, maxSpoolBytes: 3_000_000 });
    for (let i = 0; i < 90; i++) {
      writer.append(logRow({ responseTimeUs: i, answers: randomBytes(60_000) }));
      await writer.flush();
    }
    const { dropped } = writer.counters();
    const used = readdirSync(spool).reduce((sum, name) => sum + statSync(join(spool, name)).size, 0);
    expect(used).toBeLessThanOrEqual(3_000_000);
    expect(dropped).toBeGreaterThan(0);
    expect(dropped).toBeLessThan(60);
    expect(logger.text()).toContain('the spool is full');
    come();
    await until(
      'the rows that were kept to be stored',
      () => writer.counters(),
      ({ written }) => written === 90 - dropped,
    );
    const times = (await storedRows(suite.database)).map((row) => row.response_time_us);
    expect(times.sort((a, b) => a - b)).toEqual(Array.from({ length: 90 - dropped }, (_, i) => dropped + i));
  });

  test('keeps in memory the rows that cannot be written to disk, until they can be written', async () => {
    const { database, come } = suite.away();
    const dataDir = suite.makeDir();
    // A file at the path of the spool directory has the same effect as a disk that fails.
    const obstacle = join(dataDir, 'spool');
    writeFileSync(obstacle, '');
    const { writer, logger } = suite.open({ database, dataDir, maxWaitMs: 20 });
    writer.append(logRow({ qname: wireName('kept.example') }));
    await until(
      'the log to report the obstacle',
      () => logger.text(),
      (text) => text.includes('they are kept in memory'),
    );
    expect(writer.counters()).toMatchObject({ written: 0, spooled: 0, dropped: 0 });
    rmSync(obstacle);
    await until(
      'the row to be spooled',
      () => writer.counters(),
      ({ spooled }) => spooled === 1,
    );
    come();
    await until(
      'the row to be stored',
      () => writer.counters(),
      ({ written }) => written === 1,
    );
    expect(await suite.storedDomains()).toEqual(['kept.example']);
    expect(writer.counters()).toEqual({ written: 1, spooled: 1, dropped: 0, refused: 0, waiting: 0 });
  });
});
