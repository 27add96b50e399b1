import { describe, expect, test } from '@jest/globals';
import { loopName } from '../../shared/dns/loop-name.ts';
import { nameToText } from '../../shared/dns/name.ts';
import { PROBE_TOKEN_LENGTH, PROBE_ZONE } from '../../shared/dns/probe-zone.ts';
import { LogMark, QueryStatus } from '../../shared/query-log.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { ManualKind } from '../../shared/snapshot/rule-table.ts';
import { LOG_SETTINGS, NOON, RunningLogThread } from '../../test/support/parts/running-log-thread.ts';
import { SMALL_ROWS, SMALL_RULES } from '../../test/support/parts/small-policy.ts';
import { storedRows } from '../../test/support/parts/stored-log.ts';
import { until } from '../../test/support/parts/until.ts';
import { TailBatch } from '../query-log/tail/tail-batch.ts';

const log = new RunningLogThread();

describe('the thread of the query log', () => {
  test('stores the records of the rings with the names that were sent before the records', async () => {
    log.start();
    await log.thread.flush();
    log.names.rules({ snapshot: { version: 1 }, compiled: SMALL_RULES, rows: SMALL_ROWS });
    log.names.upstream(2, 'udp://192.0.2.9');
    log.answer(['games.example'], {
      status: QueryStatus.BLOCKED_MANAGED,
      groupId: 7,
      ruleAttribute: 1,
      ruleOrigin: RuleOrigin.MANAGED,
      ruleKind: ManualKind.DENY_SUFFIX,
    });
    log.answer(['allowed.example'], { upstream: 3 });
    await log.thread.flush();
    const rows = await storedRows(log.database);
    expect(rows.map(({ domain, block_source, upstream }) => [domain, block_source, upstream]).sort()).toEqual(
      [
        ['allowed.example', null, 'udp://192.0.2.9'],
        ['games.example', 'no games', null],
      ],
    );
    expect(log.thread.counters()).toMatchObject({ written: 2, dropped: 0 });
  });

  test('stores nothing about queries that are answered while privacy is set to off', async () => {
    log.start();
    log.answer(['before.example']);
    await log.thread.flush();
    log.thread.use({ ...LOG_SETTINGS, privacy: 'off' });
    log.answer(['hidden.example']);
    await log.thread.flush();
    log.thread.use(LOG_SETTINGS);
    log.answer(['after.example']);
    expect(await log.storedDomains()).toEqual(['after.example', 'before.example']);
  });

  test('counts and reports records that were lost because their ring was full', async () => {
    log.answer(Array.from({ length: 16_390 }, () => 'busy.example'));
    log.start();
    await log.thread.flush();
    expect(log.thread.counters()).toMatchObject({ written: 16_384, dropped: 0 });
    expect(log.thread.lostRows()).toBe(6);
    expect(log.logger.lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'query log rows are lost' }),
    );
  });

  test('sends stored rows to the live tail while a client watches it', async () => {
    log.start();
    log.answer(['unseen.example']);
    await log.thread.flush();
    log.thread.watch(true);
    log.answer(['seen.example']);
    await log.thread.flush();
    const { blocks, leftOut } = await log.thread.take();
    const firstSeqs = blocks.map(({ firstSeq }) => firstSeq);
    expect([firstSeqs, leftOut]).toEqual([[1], 0]);
    const origin = { node: 'a', runId: log.thread.run.id, firstSeq: 1, hostnameOf: () => null };
    const row = JSON.parse(new TailBatch(blocks[0]!.block, origin).row(0).text) as { domain: string };
    expect(row.domain).toBe('seen.example');
    expect(log.thread.run.id).not.toBeNull();
    log.thread.watch(false);
    log.answer(['later.example']);
    await log.thread.flush();
    expect(await log.thread.take()).toEqual({ blocks: [], leftOut: 0 });
  });

  test('reports queries for open probes and for names of loop checks, and networks of refused clients', async () => {
    log.start();
    const [token, loop] = ['a'.repeat(PROBE_TOKEN_LENGTH), '0123456789abcdef01234567'];
    log.thread.watchProbes([token]);
    const probe = `${token}.${PROBE_ZONE}`;
    log.answer([probe, probe.replace('a', 'b')], { logMark: LogMark.PROBE });
    log.answer(['refused.example'], { logMark: LogMark.REFUSED, ruleAttribute: 12 });
    log.answer([nameToText(loopName(loop, null)!)]);
    await until('three reports', () => log.seen.length === 3);
    const client = '192.0.2.1';
    expect(log.seen).toEqual([
      { type: 'probe-seen', query: { token, askedMs: NOON, client, protocol: 'udp' } },
      { type: 'loop-seen', token: loop, client },
      { type: 'refused', samples: [{ client, queries: 12, atMs: NOON }] },
    ]);
  });
});
