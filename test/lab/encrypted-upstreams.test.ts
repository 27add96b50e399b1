/**
 * The resolver against Unbound over TLS and over HTTPS.
 *
 * @needs nsd unbound
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Resolution } from '../../dns-worker/resolve/resolver.ts';
import { Resolver } from '../../dns-worker/resolve/resolver.ts';
import { systemClock } from '../../shared/clock.ts';
import type { UpstreamSettings } from '../../shared/policy/upstream-settings.ts';
import type { EncryptedServer, RunningServer } from '../support/dns/authority.ts';
import { startEncryptedUnbound, startNsd } from '../support/dns/authority.ts';
import { TestAuthority } from '../support/dns/certificates.ts';
import { question } from '../support/dns/built-messages.ts';
import { MemoryLogger } from '../support/parts/memory-logger.ts';
import { within } from '../support/parts/until.ts';

const ZONE = 'weir.test';
const NAMES = 200;
const ZONE_TEXT = `$ORIGIN ${ZONE}.
$TTL 300
@ IN SOA ns.${ZONE}. root.${ZONE}. 1 2 3 4 60
@ IN NS ns
ns IN A 127.0.0.1
* IN A 192.0.2.9
`;

describe('Resolver with Unbound as upstream', () => {
  let authority: TestAuthority;
  let zone: RunningServer;
  let server: EncryptedServer;
  const resolvers: Resolver[] = [];

  beforeAll(async () => {
    authority = new TestAuthority();
    zone = await startNsd(ZONE, ZONE_TEXT);
    const certificate = authority.issue('DNS:dns.weir.test');
    server = await startEncryptedUnbound(ZONE, zone.port, certificate);
  });

  afterAll(async () => {
    for (const resolver of resolvers) await resolver.close();
    await server.close();
    await zone.close();
    authority.close();
  });

  const resolverFor = (upstream: Omit<UpstreamSettings, 'address' | 'pinnedIp'>): Resolver => {
    const address = `${upstream.transport}://${upstream.host}@127.0.0.1`;
    const servers = [{ ...upstream, address, pinnedIp: '127.0.0.1' }];
    const healthCheck = {
      enabled: false,
      intervalSecs: 30,
      timeoutMs: 2000,
      failureThreshold: 3,
      successThreshold: 2,
    };
    const pools = [{ name: 'lab', strategy: 'Parallel', priority: 1, servers }] as const;
    const settings = { pools, queryTimeoutMs: 5000, bootstrap: [], healthCheck, extraCa: [authority.cert] };
    const resolver = new Resolver(settings, systemClock, new MemoryLogger());
    resolvers.push(resolver);
    return resolver;
  };

  const resolve = (by: Resolver, name: string): Promise<Resolution> =>
    within(
      `${name}.${ZONE} to be resolved`,
      new Promise((done) => by.resolve(question(`${name}.${ZONE}`, 'A'), done)),
    );

  test.each<[string, () => Omit<UpstreamSettings, 'address' | 'pinnedIp'>]>([
    ['over TLS', () => ({ transport: 'tls', host: 'dns.weir.test', port: server.tlsPort })],
    [
      'over HTTPS with POST',
      () => ({ transport: 'https', host: 'dns.weir.test', port: server.httpsPort, path: '/dns-query' }),
    ],
    [
      'over HTTPS with GET',
      () => ({
        transport: 'https',
        host: 'dns.weir.test',
        port: server.httpsPort,
        path: '/dns-query{?dns}',
      }),
    ],
  ])('queries %s, and gets an answer to each of many concurrent queries', async (_how, settings) => {
    const resolver = resolverFor(settings());
    const outcomes = await Promise.all(
      Array.from({ length: NAMES }, (_, i) => resolve(resolver, `n${String(i)}`)),
    );
    expect(outcomes.filter(({ kind }) => kind === 'answer')).toHaveLength(NAMES);
    expect(resolver.report()).toMatchObject([{ status: 'Healthy', failures: 0, resolved: ['127.0.0.1'] }]);
  });

  test('accepts no answer if the certificate of Unbound is for a different name', async () => {
    const resolver = resolverFor({ transport: 'tls', host: 'dns.example.org', port: server.tlsPort });
    expect((await resolve(resolver, 'www')).kind).toBe('failed');
    expect(resolver.report()[0]?.lastError).toContain('certificate is for another name');
  });
});
