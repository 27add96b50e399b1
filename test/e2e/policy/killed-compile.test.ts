/**
 * Weir is killed repeatedly while a big list is fetched, compiled and written: after every start, Weir answers from one
 * complete version of the list. WEIR_TEST_KILLS is the number of kills (default 2).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BlocklistSource } from '../../../shared/api/policy/sources-api.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import type { TempDir } from '../../support/weir/data-dir.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { startListServer } from '../../support/weir/list-server.ts';
import type { ListServer } from '../../support/weir/list-server.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const KILLS = Number(process.env['WEIR_TEST_KILLS'] ?? 2);
const NAMES = 100_000;
/** Maximum time before a refresh is killed, milliseconds; a complete refresh takes about as long. */
const LATEST_KILL_MS = 1000;

let lists: ListServer;
let tempDir: TempDir;
beforeAll(async () => {
  lists = await startListServer();
  tempDir = makeTempDir();
  await prepareDataDir(tempDir.dataDir);
});
afterAll(async () => {
  await lists.close();
  tempDir.remove();
});

/** A list whose first and last lines are different in each round. */
function listOf(round: number): string {
  const names = Array.from({ length: NAMES }, (_, index) => `n${String(index)}.r${String(round)}.example`);
  return [`first.r${String(round)}.example`, ...names, `last.r${String(round)}.example`, ''].join('\n');
}

/** The rounds up to `newest` whose first and last lines Weir blocks. */
async function activeRounds(weir: Weir, newest: number): Promise<number[][]> {
  const udp = await UdpClient.open(weir.dnsPort);
  const blocked = async (end: string): Promise<number[]> => {
    const rounds: number[] = [];
    for (let round = 0; round <= newest; round++)
      if ((await udp.ask(`${end}.r${String(round)}.example`, 'A')).data[0] === '0.0.0.0') rounds.push(round);
    return rounds;
  };
  try {
    return [await blocked('first'), await blocked('last')];
  } finally {
    udp.close();
  }
}

test(
  'weir killed during a list update starts with one complete policy snapshot, old or new',
  async () => {
    const toml = '[dns]\nquery_timeout_ms = 100\n';
    lists.serve('/list', listOf(0));
    let weir = await Weir.start({ tempDir, toml });
    const { id } = await (await weir.api()).addSource({ name: 'big', url: lists.url('/list') });
    for (let round = 1; round <= KILLS; round++) {
      lists.serve('/list', listOf(round));
      const api = await weir.api();
      await api.expect<BlocklistSource>(202, 'POST', `/blocklist-sources/${String(id)}/refresh`);
      // Kills Weir at a different moment of the refresh in each round.
      await sleep(((round - 0.5) / KILLS) * LATEST_KILL_MS);
      await weir.end('SIGKILL');
      weir = await Weir.start({ tempDir, toml, database: 'later' });
      const [firsts, lasts] = await activeRounds(weir, round);
      expect(firsts).toHaveLength(1);
      expect(lasts).toEqual(firsts);
      // In the last round, Weir is killed while its database may still be starting.
      if (round < KILLS) await weir.untilHealth(({ checks }) => checks.database.status === 'ok');
    }
    await weir.end('SIGKILL');
    // Also ends the processes that the last kill left running.
    const last = await Weir.start({ tempDir, toml });
    expect(await last.stop()).toMatchObject({ code: 0 });
  },
  120_000 + KILLS * 40_000,
);
