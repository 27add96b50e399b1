/**
 * Grants over real sockets: active when the response arrives, reported by name, and ended by the server, even after a
 * restart.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Grant } from '../../../shared/api/policy/grants-api.ts';
import type { ExplainAnswer } from '../../../shared/api/explain-api.ts';
import { UdpClient } from '../../support/dns/dns-client.ts';
import { EVERY_ADDRESS, startEchoingUpstream } from '../../support/dns/echoing-upstream.ts';
import type { ScriptedUpstream } from '../../support/dns/scripted-upstream.ts';
import { until } from '../../support/parts/until.ts';
import type { ApiClient } from '../../support/weir/api-client.ts';
import { makeTempDir, prepareDataDir } from '../../support/weir/data-dir.ts';
import { Weir } from '../../support/weir/weir-process.ts';

const BLOCKED = '0.0.0.0';
const RULED = 'ruled.example.org';
const OTHER = 'other.example.net';

let upstream: ScriptedUpstream;
const tempDir = makeTempDir();
beforeAll(async () => {
  upstream = await startEchoingUpstream();
  await prepareDataDir(tempDir.dataDir);
});
afterAll(async () => {
  await upstream.close();
  tempDir.remove();
});

const answerTo = async (weir: Weir, name: string): Promise<unknown> => {
  using udp = await UdpClient.open(weir.dnsPort);
  return (await udp.ask(name, 'A')).data[0];
};
const untilFree = (weir: Weir, name: string): Promise<unknown> =>
  until(
    `the end of the grant that blocks ${name}`,
    () => answerTo(weir, name),
    (address) => address === EVERY_ADDRESS,
  );
const grant = (api: ApiClient, json: object): Promise<Grant> =>
  api.expect<Grant>(201, 'POST', '/grants', json);

describe('weir with grants', () => {
  const options = () => ({ tempDir, upstreams: [`127.0.0.1:${String(upstream.port)}`] });

  test('applies grants immediately, shows them in explanations and lists, and ends them', async () => {
    await using weir = await Weir.start(options());
    const api = await weir.api();
    await api.expect(201, 'POST', '/managed-domains', { domain: '*.example.org' });
    const client = await api.expect<{ id: number }>(201, 'POST', '/clients', { ip_address: '127.0.0.1' });
    expect(await answerTo(weir, RULED)).toBe(BLOCKED);
    const allowed = await grant(api, { domain: 'example.org', client_id: client.id, secs: 86_400 });
    expect(await answerTo(weir, RULED)).toBe(EVERY_ADDRESS);
    const blocking = await grant(api, { group_id: 1, action: 'block', secs: 86_400 });
    expect([await answerTo(weir, RULED), await answerTo(weir, OTHER)]).toEqual([EVERY_ADDRESS, BLOCKED]);

    const rule = `block * until ${blocking.until}`;
    const source = `grant ${String(blocking.id)}`;
    const explained = await api.expect<ExplainAnswer>(
      200,
      'GET',
      `/explain?domain=${OTHER}&client=127.0.0.1`,
    );
    const named = { judged: OTHER, rule, origin: 'grant', source, sources: [source], line: null };
    expect(explained).toMatchObject({ status: 'BLOCKED_MANAGED', decided_by: named });
    expect(explained.stages.at(-1)).toEqual({
      stage: 'grants',
      verdict: 'answered',
      rules: [named],
      detail: null,
    });
    await api.untilQueryCount(1, `domain=${OTHER}`);
    expect(await api.queries(`domain=${OTHER}`)).toMatchObject([{ block_source: source, block_rule: rule }]);

    await api.expect(204, 'DELETE', `/grants/${String(blocking.id)}`);
    expect(await answerTo(weir, OTHER)).toBe(EVERY_ADDRESS);
    await grant(api, { domain: OTHER, group_id: 1, action: 'block', secs: 1 });
    await untilFree(weir, OTHER);
    expect(await api.expect<Grant[]>(200, 'GET', '/grants')).toMatchObject([{ id: allowed.id }]);
    await api.expect(204, 'DELETE', `/grants/${String(allowed.id)}`);
    expect(await answerTo(weir, RULED)).toBe(BLOCKED);
    await grant(api, { domain: RULED, subdomains: false });
    expect(await answerTo(weir, RULED)).toBe(EVERY_ADDRESS);
    expect(await answerTo(weir, `www.${RULED}`)).toBe(BLOCKED);
    await grant(api, { domain: OTHER, group_id: 1, action: 'block', secs: 4 });
    expect(await weir.stop()).toMatchObject({ code: 0 });
  });

  test('neither loses nor extends grants while it has no database', async () => {
    await using weir = await Weir.start({ ...options(), database: 'none' });
    expect(await answerTo(weir, RULED)).toBe(EVERY_ADDRESS);
    await untilFree(weir, OTHER);
    expect(await answerTo(weir, RULED)).toBe(EVERY_ADDRESS);
    expect(await answerTo(weir, `www.${RULED}`)).toBe(BLOCKED);
  });
});
