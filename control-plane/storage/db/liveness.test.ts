import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { asOwner } from '../../../test/support/parts/as-owner.ts';
import { embeddedTarget } from './database-target.ts';
import { runningServerAddress } from './running-postgres.ts';
import { startTestDatabase } from '../../../test/support/parts/test-database.ts';
import type { TestDatabase } from '../../../test/support/parts/test-database.ts';
import { until, within } from '../../../test/support/parts/until.ts';
import { Liveness } from './liveness.ts';
import { NoticeListeners } from './notice-listeners.ts';

let own: TestDatabase;
let stopping: AbortController;
let ended: Promise<unknown>;
beforeAll(async () => {
  own = await startTestDatabase();
});
afterEach(async () => {
  stopping.abort();
  await within('the check to end', ended);
});
afterAll(() => own.stop());

const sendNotice = (channel: string, payload: string): Promise<unknown> =>
  own.database.query('SELECT pg_notify($1, $2)', [channel, payload]);

/** Starts checks that run until the end of the test; `notify` sends the test notifications. */
function check(notices: NoticeListeners, notify = sendNotice): Liveness {
  const liveness = new Liveness({
    target: embeddedTarget(runningServerAddress(own.dataDir)),
    logger: own.logger,
    tables: null,
    notices,
    notify,
    opened: () => undefined,
    lost: () => undefined,
  });
  stopping = new AbortController();
  ended = liveness.keepChecking(stopping.signal, () => liveness.check(10_000)).finally(() => liveness.end());
  return liveness;
}

describe('Liveness', () => {
  test('receives notices of channels that were added before and after it connected, until the session ends', async () => {
    const notices = new NoticeListeners();
    const heard: string[] = [];
    const hear = (payload: string): unknown => heard.push(payload);
    expect([notices.add('one', hear), notices.add('one', () => undefined)]).toEqual([true, false]);
    const liveness = check(notices);
    expect(notices.isListeningTo('one')).toBe(false);
    notices.add('Two "channels"', hear);
    liveness.listen('Two "channels"');
    await until('the channel to be heard', () => notices.isListeningTo('Two "channels"'));
    await sendNotice('Two "channels"', 'b');
    await until(
      'the notice of the channel',
      () => heard,
      (seen) => seen.includes('b'),
    );
    expect(notices.isListeningTo('one')).toBe(true);
    await sendNotice('one', 'a');
    await until(
      'the notice of the first channel',
      () => heard,
      (seen) => seen.includes('a'),
    );
    liveness.listen('one', false);
    expect(notices.isListeningTo('one')).toBe(false);
    heard.length = 0;
    const reportAgain = async (): Promise<string[]> => {
      await sendNotice('Two "channels"', 'c');
      return heard;
    };
    await until('the notice of the other channel', reportAgain, (seen) => seen.includes('c'));
    await sendNotice('one', 'too late');
    await sendNotice('Two "channels"', 'last');
    await until(
      'the last notice',
      () => heard,
      (seen) => seen.includes('last'),
    );
    expect(heard).not.toContain('too late');
  });

  test.each(['heard', 'lost'] as const)(
    'reports changes of a watched value if notices are %s',
    async (way) => {
      await asOwner(own.database, 'CREATE TABLE IF NOT EXISTS watched AS SELECT 1 AS number');
      const notices = new NoticeListeners();
      const seen: unknown[] = [];
      notices.add('watched', () => undefined);
      notices.watched = {
        channel: 'watched',
        expression: 'SELECT number FROM watched',
        take: (value) => seen.push(value),
      };
      // With a connection pooler, the notifications of other sessions are lost.
      check(notices, way === 'heard' ? sendNotice : () => Promise.resolve());
      await until(
        'the first number',
        () => seen.length,
        (count) => count > 0,
      );
      await own.database.query('UPDATE watched SET number = 2');
      if (way === 'heard') await sendNotice('watched', '');
      await until(
        'the changed number',
        () => seen.at(-1),
        (now) => now === 2,
      );
      expect(new Set(seen)).toEqual(new Set([1, 2]));
      if (way === 'lost')
        await until(
          'the log to report lost notices',
          () => own.logger.text(),
          (text) => text.includes('notifications of the database do not arrive'),
        );
      // Ends the checks first, because a check in progress would fail without the table.
      stopping.abort();
      await within('the check to end', ended);
      // `IF EXISTS`, because a statement is repeated if its connection is lost.
      await asOwner(own.database, 'DROP TABLE IF EXISTS watched');
    },
  );

  test('does not report a value if it is no longer watched when the query returns', async () => {
    const notices = new NoticeListeners();
    const seen: unknown[] = [];
    const take = (value: unknown): unknown => seen.push(value);
    const lock = 4711;
    await own.database.transaction(async (tx) => {
      await tx.query('SELECT pg_advisory_xact_lock($1)', [lock]);
      const expression = `SELECT 'first' FROM pg_advisory_xact_lock(${String(lock)})`;
      notices.watched = { channel: 'watched', expression, take };
      check(notices);
      const waiting = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${String(lock)} AND NOT granted`;
      await until(
        'the check to wait for the lock',
        async () => (await tx.query(waiting)).rows.length,
        (count) => count > 0,
      );
      notices.watched = { channel: 'watched', expression: `SELECT 'second'`, take };
    });
    await until(
      'the answer to the second check',
      () => seen.length,
      (count) => count > 0,
    );
    expect(seen[0]).toBe('second');
  });
});

describe('NoticeListeners', () => {
  test('stops listening to a channel when its last listener is removed', () => {
    const notices = new NoticeListeners();
    const [one, two] = [() => undefined, () => undefined];
    notices.add('c', one);
    notices.add('c', two);
    expect([notices.remove('c', one), notices.remove('c', one), [...notices.channels()]]).toEqual([
      false,
      false,
      ['c'],
    ]);
    expect([notices.remove('c', two), [...notices.channels()]]).toEqual([true, []]);
  });
});
