/** Two servers, one of which strips DNSSEC signatures: validated names are still answered. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { RRType } from '../../../shared/dns/iana.ts';
import { FlagsLow } from '../../../shared/dns/wire.ts';
import type { UpstreamReport, WorkerSettings } from '../../../shared/threads/messages.ts';
import { pool, settingsOf } from '../../support/dns/asked-resolver.ts';
import { questionOf } from '../../support/dns/built-messages.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import type { Reply } from '../../support/dns/dns-message.ts';
import { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { SIGNED_ROOT, type SignedServerOptions, signedZones } from '../../support/dns/signed-server.ts';
import { RunningWorker } from '../../support/parts/running-worker.ts';
import { snapshotOf } from '../../support/parts/test-lists.ts';
import { until } from '../../support/parts/until.ts';

const NO_LISTS = snapshotOf([], {}, 1);
const DNSSEC = { anchors: SIGNED_ROOT, negativeAnchors: [] };
const DO = { edns: { dnssecOk: true } };

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function server(
  lastOctet: number,
  strips: boolean,
  more: SignedServerOptions = {},
): Promise<ScriptedUpstream> {
  const started = await ScriptedUpstream.start();
  started.udpScript = signedZones(lastOctet, { strips, ...more });
  closers.push(() => started.close());
  return started;
}

/** A validating worker with these pools, and a client of it. */
async function validating(pools: WorkerSettings['pools']): Promise<[RunningWorker, UdpClient]> {
  const worker = await RunningWorker.start(NO_LISTS, { settings: { pools, dnssec: DNSSEC } });
  closers.push(() => worker[Symbol.asyncDispose]());
  const client = await UdpClient.open(worker.port);
  closers.push(() => client.close());
  return [worker, client];
}

function lastReport({ messages }: RunningWorker): readonly UpstreamReport[] {
  const reports = messages.resolve.flatMap((message) =>
    message.type === 'upstreams' ? [message.upstreams] : [],
  );
  return reports.at(-1)?.pools ?? [];
}

function isSecure({ rcode, bytes }: Reply): boolean {
  return rcode === 0 && (bytes[3]! & FlagsLow.AD) !== 0;
}

/** Number of queries to a server for the DNSKEY RRset of the root. */
function keyQuestionsOf({ udpQuestions }: ScriptedUpstream): number {
  return udpQuestions.filter(({ bytes }) => {
    const { qname, qtype } = questionOf(bytes);
    return qname.length === 1 && qtype === RRType.DNSKEY;
  }).length;
}

const LAYOUTS = {
  'a Failover pool': (servers) => [pool('Failover', servers)],
  'a Balanced pool': (servers) => [pool('Balanced', servers)],
  'a Parallel pool': (servers) => [pool('Parallel', servers)],
  'two pools by priority': ([stripping, good]) => [
    pool('Failover', [stripping!], 1),
    pool('Failover', [good!], 2),
  ],
} satisfies Record<string, (servers: readonly ReturnType<typeof settingsOf>[]) => WorkerSettings['pools']>;

describe('a server that removes signatures, queried first,', () => {
  test.each(Object.entries(LAYOUTS))('leaves every name secure in %s', async (_layout, poolsOf) => {
    const [stripping, good] = [await server(1, true), await server(2, false)];
    const [, client] = await validating(poolsOf([settingsOf(stripping), settingsOf(good)]));
    for (const name of ['one.example', 'two.example', 'three.example', 'four.example']) {
      const reply = await client.ask(name, 'A', DO);
      expect([name, isSecure(reply), reply.data[0]]).toEqual([name, true, '192.0.2.2']);
    }
  });

  test('is marked in the upstream report, and is not queried for further names', async () => {
    const [stripping, good] = [await server(1, true), await server(2, false)];
    const [worker, client] = await validating([pool('Failover', [settingsOf(stripping), settingsOf(good)])]);
    expect(isSecure(await client.ask('one.example', 'A', DO))).toBe(true);
    await until(
      'the server to be marked',
      () => lastReport(worker).map(({ removesSignatures }) => removesSignatures),
      ([first]) => first === true,
    );
    expect(lastReport(worker)).toMatchObject([
      { removesSignatures: true, lastError: 'removes DNSSEC signatures' },
      { removesSignatures: false },
    ]);
    const before = stripping.udpQueries.length;
    expect(isSecure(await client.ask('two.example', 'A', DO))).toBe(true);
    expect(stripping.udpQueries.slice(before).map(({ bytes }) => questionOf(bytes).qtype)).toEqual([]);
  });

  test('does not prevent secure answers from a third server if the second server also removes signatures', async () => {
    const servers = [await server(1, true), await server(2, true), await server(3, false)];
    const [, client] = await validating([
      pool(
        'Failover',
        servers.map((each) => settingsOf(each)),
      ),
    ]);
    const reply = await client.ask('one.example', 'A', DO);
    expect([isSecure(reply), reply.data[0]]).toEqual([true, '192.0.2.3']);
  });
});

describe('a domain whose zone lacks its signatures on all servers', () => {
  test('is SERVFAIL, and no server is marked as removing signatures', async () => {
    const broken = { unsignedName: 'broken.example' };
    const servers = [await server(1, false, broken), await server(2, false, broken)];
    const [worker, client] = await validating([
      pool(
        'Failover',
        servers.map((each) => settingsOf(each)),
      ),
    ]);
    expect((await client.ask('broken.example', 'A', DO)).rcode).toBe(2);
    await until(
      'each server to be asked for keys of the root in addition to those of the question',
      () => servers.map(keyQuestionsOf),
      ([first, second]) => first! >= 2 && second! >= 1,
    );
    expect(isSecure(await client.ask('one.example', 'A', DO))).toBe(true);
    expect(lastReport(worker).map(({ removesSignatures }) => removesSignatures)).toEqual([false, false]);
  });
});

describe('a pool whose only server removes signatures', () => {
  test('gives SERVFAIL with a reason for signed names, and the server is marked', async () => {
    const [worker, client] = await validating([pool('Failover', [settingsOf(await server(1, true))])]);
    const reply = await client.ask('one.example', 'A', DO);
    expect([reply.rcode, reply.extendedErrors.length]).toEqual([2, 1]);
    await until(
      'the server to be marked',
      () => lastReport(worker).map(({ removesSignatures }) => removesSignatures),
      ([only]) => only === true,
    );
  });
});
