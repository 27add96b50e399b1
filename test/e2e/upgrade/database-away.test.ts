/**
 * An upgrade of Weir while its database is unreachable: DNS is not affected, and the log has every query exactly once.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Rcode } from '../../../shared/dns/iana.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { until } from '../../support/parts/until.ts';
import { DatabaseGate } from '../../support/weir/database-gate.ts';
import { NodeCluster } from '../../support/weir/node-cluster.ts';
import { Load } from '../../support/weir/query-load.ts';
import { endProcess, processOf } from '../../support/weir/holder.ts';
import { runUpgrade } from '../../support/weir/upgrades.ts';
import type { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';
const POLL_MS = 50;

let cluster: NodeCluster;
let gate: DatabaseGate;
let weir: Weir;
let client: UdpClient;

beforeAll(async () => {
  cluster = await NodeCluster.open();
  gate = await DatabaseGate.open(cluster.database.url);
  weir = await cluster.start('here', { env: { WEIR_DATABASE_URL: gate.url } });
  client = await UdpClient.open(weir.dnsPort);
  const api = await weir.api();
  await api.expect(201, 'POST', '/managed-domains', { domain: 'blocked.example' });
  await until('the rule to be active', answer, (address) => address === BLOCKED, { pauseMs: POLL_MS });
});

afterAll(async () => {
  client.close();
  await endProcess(processOf(weir), 'SIGTERM');
  await cluster.close();
  await gate[Symbol.asyncDispose]();
});

const answer = async (): Promise<string | undefined> =>
  (await client.ask('blocked.example', 'A')).data[0] as string | undefined;

/** Status of the database according to the running process; null while the process does not answer. */
const databaseStatus = (): Promise<string | null> =>
  weir.health().then(
    ({ body }) => body.checks.database.status,
    () => null,
  );

describe('weir upgrade while the database is unreachable', () => {
  test.each(['refusing', 'silent'] as const)(
    '(%s) loses no query, keeps the policy and logs each query once',
    async (state) => {
      const before = processOf(weir);
      const load = await Load.start(weir.dnsPort, state);
      await load.untilMore(30);
      gate.set(state);
      await load.untilMore(100);
      expect(await runUpgrade(weir)).toMatchObject({ code: 0 });
      expect(processOf(weir)).not.toBe(before);
      expect(await answer()).toBe(BLOCKED);
      await load.untilMore(100);
      await load.stop();
      expect(load.lost).toEqual([]);
      expect(load.replies.filter(({ rcode }) => rcode !== Rcode.NOERROR)).toEqual([]);
      gate.set('open');
      const isUp = (status: string | null): boolean => status === 'ok';
      await until('the database to be up again', databaseStatus, isUp, { pauseMs: POLL_MS });
      const api = await weir.api();
      expect(await api.untilQueryCount(load.replies.length, `domain=.${state}.`)).toBe(load.replies.length);
    },
  );
});
