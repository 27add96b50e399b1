/**
 * Zones of RFC 6303, which the server answers itself: clients that validate or look for zone cuts see complete zones.
 */
import { expect, test } from '@jest/globals';
import { QuestionFlag } from '../../../shared/snapshot/policy-table.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { answersWith } from '../../support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { RunningWorker } from '../../support/parts/running-worker.ts';
import { snapshotOf } from '../../support/parts/test-lists.ts';

const questionFlags = QuestionFlag.SPECIAL_NAMES | QuestionFlag.BLOCK_PRIVATE_PTR;

test('a zone of private addresses has SOA and NS records, DS is forwarded, negative answers have the SOA', async () => {
  await using upstream = await ScriptedUpstream.start();
  upstream.udpScript = answersWith({});
  await using worker = await RunningWorker.start(snapshotOf([], {}, 1, { questionFlags }), { upstream });
  using client = await UdpClient.open(worker.port);
  const zone = '168.192.in-addr.arpa';
  const soa = await client.ask(zone, 'SOA');
  expect([soa.rcode, soa.answers.map(({ name, type }) => [name, type])]).toEqual([0, [[zone, 'SOA']]]);
  const ns = await client.ask(zone, 'NS');
  expect([ns.rcode, ns.answers.map(({ name, data }) => [name, data])]).toEqual([0, [[zone, zone]]]);
  const missing = await client.ask(`1.${zone}`, 'PTR');
  expect([missing.rcode, missing.authorities.map(({ name, type }) => [name, type])]).toEqual([
    3,
    [[zone, 'SOA']],
  ]);
  expect(upstream.udpQueries).toHaveLength(0);
  await client.ask(zone, 'DS');
  expect(upstream.udpQuestions).toHaveLength(1);
});
