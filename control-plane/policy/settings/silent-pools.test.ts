/** Changes of pools over HTTP, with servers on loopback addresses, some of which do not answer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startEchoingUpstream } from '../../../test/support/dns/echoing-upstream.ts';
import { ScriptedUpstream } from '../../../test/support/dns/scripted-upstream.ts';
import { configSuite } from '../../../test/support/parts/config-suite.ts';
import type { TestAnswer } from '../../../test/support/parts/running-api.ts';
import { testUpstreams } from '../../resolving/upstreams/upstream-test.ts';

const config = configSuite();
let good: ScriptedUpstream;
let closed: string;
/** Servers that were tested, for each change. */
let asked: string[][] = [];

beforeAll(async () => {
  good = await startEchoingUpstream();
  const gone = await ScriptedUpstream.start();
  closed = `127.0.0.1:${String(gone.port)}`;
  await gone.close();
});
afterAll(() => good.close());
beforeEach(() => {
  asked = [];
  config.testUpstreams = (servers, bootstrap, leaving) => {
    asked.push([...servers]);
    return testUpstreams(servers, { bootstrap, dnsPort: 53 }, leaving);
  };
});

const pool = (name: string, ...servers: string[]) => ({ name, servers });
const send = (method: string, pools: unknown, query = ''): Promise<TestAnswer> =>
  config.api.send(method, `/api/config${query}`, { json: { dns: { pools } } });
const storedPools = async (): Promise<unknown> => (await config.read()).dns['pools'];

describe.each(['PATCH', 'POST'])('the pools of %s /config', (method) => {
  test('are refused if no server of a new pool answers, and stored with force=true', async () => {
    const alive = `127.0.0.1:${String(good.port)}`;
    const before = await storedPools();
    const pools = [pool('alive', alive), pool('dead', closed)];
    const { status, problem } = await send(method, pools);
    expect([status, problem.error]).toEqual([409, 'upstream_silent']);
    expect(problem.errors).toEqual([
      { path: 'dns.pools.1.servers', message: expect.stringContaining(`"dead" answers: ${closed} (`) },
    ]);
    expect(problem.detail).toContain('force=true');
    expect(await storedPools()).toEqual(before);
    expect((await send(method, pools, '?force=true')).status).toBe(200);
    expect(await storedPools()).toMatchObject(pools);
  });

  test('are stored if one server of each new pool answers', async () => {
    const pools = [pool('mixed', closed, `127.0.0.1:${String(good.port)}`)];
    expect((await send(method, pools)).status).toBe(200);
    expect(await storedPools()).toMatchObject(pools);
  });

  test('are not queried if a pool keeps its servers, or if they are the default pools', async () => {
    await send(method, [pool('dead', closed)], '?force=true');
    expect((await send(method, [{ ...pool('renamed', closed), priority: 3 }])).status).toBe(200);
    expect((await send(method, null)).status).toBe(200);
    expect(asked).toEqual([]);
  });
});
