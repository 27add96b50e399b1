import { describe, expect, jest, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { logRow, wireName } from '../../../test/support/parts/log-row.ts';
import { LogWriters } from '../../../test/support/parts/log-writers.ts';
import { storedRows } from '../../../test/support/parts/stored-log.ts';
import { until } from '../../../test/support/parts/until.ts';
import { serversOn } from '../../storage/db/postgres/postgres-process.ts';

const suite = new LogWriters();

describe('BatchSender', () => {
  test('moves to a file the rows that the database refuses as invalid, logs and counts them, and stores all other rows', async () => {
    const { writer, spool, logger } = suite.open();
    await asOwner(suite.database, 'ALTER TABLE query_blocks ADD CONSTRAINT no_poison CHECK (row_count <> 2)');
    try {
      for (let i = 0; i < 2; i++) writer.append(logRow({ qname: wireName('poison.example') }));
      await writer.flush();
      writer.append(logRow({ qname: wireName('good.example') }));
      await writer.flush();
    } finally {
      await asOwner(suite.database, 'ALTER TABLE query_blocks DROP CONSTRAINT no_poison');
    }
    expect(await suite.storedDomains()).toEqual(['good.example']);
    expect(writer.counters()).toMatchObject({ refused: 2, written: 1, dropped: 0 });
    const [name, ...others] = readdirSync(join(spool, 'refused'));
    expect(others).toEqual([]);
    expect(readFileSync(join(spool, 'refused', name!), 'latin1')).toContain('"rowCount":2');
    expect(logger.text()).toContain(join(spool, 'refused', name!));
    expect(logger.text()).toContain('no_poison');
  });

  test('stores rows of the spool, except those that the database refuses', async () => {
    const { database, come } = suite.away();
    const { writer, spool } = suite.open({ database });
    for (const [domain, rows] of [
      ['one.example', 1],
      ['poison.example', 2],
      ['two.example', 1],
    ] as const) {
      for (let i = 0; i < rows; i++) writer.append(logRow({ qname: wireName(domain) }));
      await writer.flush();
    }
    await asOwner(suite.database, 'ALTER TABLE query_blocks ADD CONSTRAINT no_poison CHECK (row_count <> 2)');
    try {
      come();
      await until(
        'the good rows to be stored and the others refused',
        () => writer.counters(),
        ({ refused, written }) => refused === 2 && written === 2,
      );
    } finally {
      await asOwner(suite.database, 'ALTER TABLE query_blocks DROP CONSTRAINT no_poison');
    }
    expect(await suite.storedDomains()).toEqual(['one.example', 'two.example']);
    expect(readdirSync(join(spool, 'refused'))).toHaveLength(1);
    expect(writer.counters().dropped).toBe(0);
  });

  test('flush() sends rows that arrive while the spool is read', async () => {
    let flushed: Promise<void> | undefined;
    const { writer } = suite.open({ maxWaitMs: 600_000 });
    const up = suite.database.status();
    // The status of the database is checked just before the spool is read.
    const status = jest.spyOn(suite.database, 'status').mockImplementation(() => {
      if (flushed === undefined) {
        writer.append(logRow({ qname: wireName('late.example') }));
        flushed = writer.flush();
      }
      return up;
    });
    await until('the flush to begin', () => flushed !== undefined);
    status.mockRestore();
    await flushed;
    expect(writer.counters()).toMatchObject({ written: 1, waiting: 0 });
    expect(await suite.storedDomains()).toEqual(['late.example']);
  });

  test('keeps rows in the spool while the database refuses them for any reason but invalid values', async () => {
    const { writer } = suite.open({ maxWaitMs: 20 });
    await asOwner(suite.database, 'ALTER TABLE query_blocks RENAME COLUMN head TO another');
    try {
      writer.append(logRow({ qname: wireName('patient.example') }));
      await writer.flush();
      expect(writer.counters()).toMatchObject({ spooled: 1, dropped: 0, refused: 0 });
      expect(writer.trouble()).toMatch(/retrying later.*"head"/);
    } finally {
      await asOwner(suite.database, 'ALTER TABLE query_blocks RENAME COLUMN another TO head');
    }
    await until(
      'the row to be stored',
      () => writer.counters(),
      ({ written }) => written === 1,
    );
    expect(await suite.storedDomains()).toEqual(['patient.example']);
    await until(
      'the trouble to be over',
      () => writer.trouble(),
      (now) => now === null,
    );
  });

  test('keeps rows in the spool while another node has the name of this node, and stores them under a new name', async () => {
    const dataDir = suite.makeDir();
    let isHeld = false;
    const { writer } = suite.open({ dataDir, maxWaitMs: 20, nodeId: 7, mayStore: () => isHeld });
    for (const domain of ['one.example', 'two.example'])
      writer.append(logRow({ qname: wireName(domain), upstream: null, blockSource: 'list' }));
    await until(
      'the rows to be spooled',
      () => writer.counters(),
      ({ spooled }) => spooled === 2,
    );
    expect(await suite.storedDomains()).toEqual([]);
    await writer.close();
    // The second writer has a node name that the administrator chose later.
    const { writer: renamed } = suite.open({ dataDir, maxWaitMs: 20, nodeId: 8, mayStore: () => isHeld });
    isHeld = true;
    await until(
      'the rows to be stored',
      () => renamed.counters(),
      ({ written }) => written === 2,
    );
    const { rows } = await suite.database.query('SELECT DISTINCT node_id FROM query_blocks');
    expect(rows).toEqual([{ node_id: 8 }]);
    expect(await suite.storedDomains()).toEqual(['one.example', 'two.example']);
  });

  test('loses and duplicates no rows when the database is killed under load', async () => {
    const { writer } = suite.open({ maxWaitMs: 50 });
    let appended = 0;
    const append = (rows: number): void => {
      for (let i = 0; i < rows; i++) {
        writer.append(logRow({ responseTimeUs: appended++ }));
        if (appended % 200 === 0) void writer.flush();
      }
    };
    append(2000);
    await writer.flush();
    // Acknowledged, but possibly not flushed to disk.
    append(1000);
    const states: string[] = [];
    const stop = suite.database.onStatus(({ state }) => states.push(state));
    for (const pid of serversOn(suite.cluster)) process.kill(pid, 'SIGKILL');
    append(1000);
    await until(
      'the database to be down',
      () => states,
      (seen) => seen.includes('down'),
    );
    append(1000);
    await until(
      'the database to be up again',
      () => states,
      (seen) => seen.at(-1) === 'up',
    );
    stop();
    append(1000);
    const flushed = async (): Promise<{ written: number }> => {
      await writer.flush();
      return writer.counters();
    };
    await until('every row to be stored', flushed, ({ written }) => written >= appended);
    const times = (await storedRows(suite.database)).map((row) => row.response_time_us);
    expect(times.sort((a, b) => a - b)).toEqual(Array.from({ length: appended }, (_, i) => i));
    expect(writer.counters().dropped).toBe(0);
  });
});
