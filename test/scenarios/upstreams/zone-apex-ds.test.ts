/** DS queries for the apex of a forward zone: the parent zone must answer them (RFC 4035 section 3.1.4.1). */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RRType, rrTypeName } from '../../../shared/dns/iana.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import type { ForwardZone } from '../../../shared/snapshot/forward-zone-servers.ts';
import { FIRST_ZONE_UPSTREAM } from '../../../shared/snapshot/forward-zone-servers.ts';
import { NO_NAME_RULES } from '../../../shared/snapshot/name-rules.ts';
import { settingsOf } from '../../support/dns/asked-resolver.ts';
import { a, idOf, questionOf, response, soa, wireName } from '../../support/dns/built-messages.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { RunningWorker } from '../../support/parts/running-worker.ts';
import { snapshotOf } from '../../support/parts/test-lists.ts';

const DO = { edns: { dnssecOk: true } };

let pool: ScriptedUpstream;
let corp: ScriptedUpstream;
let lab: ScriptedUpstream;
let worker: RunningWorker;
let client: UdpClient;

/** A server that has an address for every name and no DS. */
async function server(lastOctet: number): Promise<ScriptedUpstream> {
  const started = await ScriptedUpstream.start();
  started.udpScript = (query) => {
    const { bytes } = query;
    const asked = questionOf(bytes);
    const isDs = asked.qtype === RRType.DS;
    const records = isDs
      ? { authorities: [soa('example', 300, 300)] }
      : { answers: [a(nameToText(asked.qname), `192.0.2.${String(lastOctet)}`)] };
    query.reply(response(asked, { id: idOf(bytes), ...records }));
  };
  return started;
}

function forwardZone(name: string, partition: number, upstream: ScriptedUpstream): ForwardZone {
  return {
    ...{ zone: name, names: [wireName(name)], partition },
    ...{ servers: [settingsOf(upstream)], upstreamNumbers: [FIRST_ZONE_UPSTREAM + partition] },
  };
}

function askedOf({ udpQuestions }: ScriptedUpstream): string[] {
  return udpQuestions.map(({ bytes }) => {
    const { qname, qtype } = questionOf(bytes);
    return `${nameToText(qname).toLowerCase()} ${rrTypeName(qtype)}`;
  });
}

beforeEach(async () => {
  [pool, corp, lab] = await Promise.all([server(1), server(2), server(3)]);
  const forwardZones = [forwardZone('corp.example', 4, corp), forwardZone('lab.corp.example', 5, lab)];
  const snapshot = snapshotOf([], {}, 1, { names: { ...NO_NAME_RULES, forwardZones } });
  worker = await RunningWorker.start(snapshot, { upstream: pool });
  client = await UdpClient.open(worker.port);
});
afterEach(async () => {
  client.close();
  await worker[Symbol.asyncDispose]();
  await Promise.all([pool, corp, lab].map((started) => started.close()));
});

describe('a DS query for the apex of a forward zone', () => {
  test('is sent to the default pools, while all other queries for the zone go to its own servers', async () => {
    expect((await client.ask('corp.example', 'DS', DO)).rcode).toBe(0);
    expect((await client.ask('corp.example', 'A')).data).toEqual(['192.0.2.2']);
    expect((await client.ask('host.corp.example', 'DS', DO)).rcode).toBe(0);
    expect((await client.ask('host.corp.example', 'A')).data).toEqual(['192.0.2.2']);
    expect(askedOf(pool)).toEqual(['corp.example DS']);
    expect(askedOf(corp)).toEqual(['corp.example A', 'host.corp.example DS', 'host.corp.example A']);
  });

  test('is sent to the servers of the parent zone if the parent is also a forward zone', async () => {
    await client.ask('lab.corp.example', 'DS', DO);
    expect((await client.ask('lab.corp.example', 'A')).data).toEqual(['192.0.2.3']);
    expect([pool, corp, lab].map(askedOf)).toEqual([[], ['lab.corp.example DS'], ['lab.corp.example A']]);
  });

  test('is cached as an answer of the default pools', async () => {
    await client.ask('corp.example', 'DS', DO);
    await client.ask('corp.example', 'DS', DO);
    expect(askedOf(pool)).toEqual(['corp.example DS']);
    expect(askedOf(corp)).toEqual([]);
  });
});
