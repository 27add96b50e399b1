/**
 * Unbound as a validating client behind Weir, which forwards an internal zone to its own server.
 *
 * @needs unbound
 */
import { expect, test } from '@jest/globals';
import { FIRST_ZONE_UPSTREAM } from '../../shared/snapshot/forward-zone-servers.ts';
import { NO_NAME_RULES } from '../../shared/snapshot/name-rules.ts';
import { settingsOf } from '../support/dns/asked-resolver.ts';
import { startValidatingUnbound } from '../support/dns/authority.ts';
import { wireName } from '../support/dns/built-messages.ts';
import { UdpClient } from '../support/dns/dns-client.ts';
import { answers } from '../support/dns/scripted-server.ts';
import { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import { SIGNED_ROOT_DS, signedZones } from '../support/dns/signed-server.ts';
import { RunningWorker } from '../support/parts/running-worker.ts';
import { snapshotOf } from '../support/parts/test-lists.ts';

const ZONE = 'corp.example';

test('a validating client of Weir resolves names of an internal zone that is delegated without a signature', async () => {
  await using pool = await ScriptedUpstream.start();
  pool.udpScript = signedZones(1, { insecureZone: ZONE });
  await using internal = await ScriptedUpstream.start();
  internal.udpScript = answers(2);
  const forwardZone = {
    ...{ zone: ZONE, names: [wireName(ZONE)], partition: 4 },
    ...{ servers: [settingsOf(internal)], upstreamNumbers: [FIRST_ZONE_UPSTREAM] },
  };
  const names = { ...NO_NAME_RULES, forwardZones: [forwardZone] };
  await using worker = await RunningWorker.start(snapshotOf([], {}, 1, { names }), { upstream: pool });
  const unbound = await startValidatingUnbound(worker.port, SIGNED_ROOT_DS);
  try {
    using client = await UdpClient.open(unbound.port);
    expect((await client.ask('www.example', 'A')).data).toEqual(['192.0.2.1']);
    expect((await client.ask(`host.${ZONE}`, 'A')).data).toEqual(['192.0.2.2']);
  } finally {
    await unbound.close();
  }
});
