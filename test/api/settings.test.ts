/** The DNS settings over HTTP. */
import { describe, expect, test } from '@jest/globals';
import { revisionRoutes } from '../../control-plane/transfer/revisions/revision-routes.ts';
import { readConfigRows } from '../../control-plane/policy/settings/config-store.ts';
import { dnsSettingsRoutes } from '../../control-plane/policy/settings/dns-settings-routes.ts';
import type { Revision } from '../../shared/api/revisions-api.ts';
import { DnsSettings } from '../../shared/api/settings-api.ts';
import type { RunningApi, Rows } from '../support/parts/running-api.ts';
import { serveSuite } from '../support/parts/served-suite.ts';
import type { SuiteDatabase } from '../support/parts/suite-database.ts';

/** Routes under test. */
const suiteRoutes: Rows = (parts) => {
  const { configuration, database } = parts;
  const activateRestored = async (): Promise<void> => {
    await configuration.follow(async () => ({ config: await readConfigRows(database) }));
  };
  return [...dnsSettingsRoutes(parts), ...revisionRoutes({ ...parts, activateRestored })];
};

let suite: SuiteDatabase;
let api: RunningApi;

serveSuite(suiteRoutes, (served) => ({ suite, api } = served), {
  toml: 'auth.enabled = false\ndns.local_domain = "home.arpa"\ndns.never_forward_non_fqdn = true',
  perTest: true,
});

const CONFIGURED = {
  never_forward_non_fqdn: true,
  never_forward_reverse_lookups: false,
  local_domain: 'home.arpa',
  local_dns_server: '',
};

async function read(): Promise<DnsSettings> {
  return DnsSettings.parse((await api.send('GET', '/api/settings')).body);
}

describe('DNS settings', () => {
  test.each(['POST', 'PUT'])(
    'are the values of the configuration until %s sets them, field by field',
    async (method) => {
      expect(await read()).toEqual(CONFIGURED);
      await api.send(method, '/api/settings', { json: {} }); // The first change imports the file into the database.
      const before = api.policyChanges;
      const json = { local_domain: 'LAN.', local_dns_server: '192.0.2.1:53' };
      const first = await api.send(method, '/api/settings', { json });
      const set = { ...CONFIGURED, local_domain: 'lan', local_dns_server: '192.0.2.1:53' };
      expect([first.status, first.body]).toEqual([200, set]);
      const second = await api.send(method, '/api/settings', { json: { never_forward_non_fqdn: false } });
      expect(second.body).toEqual({ ...set, never_forward_non_fqdn: false });
      expect(await read()).toEqual({ ...set, never_forward_non_fqdn: false });
      expect(api.policyChanges - before).toBe(2);
      const emptied = { local_domain: '', local_dns_server: '' };
      await api.send(method, '/api/settings', { json: emptied });
      expect(await read()).toMatchObject(emptied);
    },
  );

  test.each([
    [{ local_domain: 'a..b' }, 'local_domain'],
    [{ local_domain: null }, 'local_domain'],
    [{ local_dns_server: 'no server' }, 'local_dns_server'],
    [{ local_dns_server: '192.0.2.1:0' }, 'local_dns_server'],
    [{ local_dns_server: 'https://192.0.2.1' }, 'local_dns_server'],
    [{ never_forward_non_fqdn: 'yes' }, 'never_forward_non_fqdn'],
    [{ block_non_fqdn: true }, 'block_non_fqdn'],
  ])('reject %j', async (json, path) => {
    const answer = await api.send('PUT', '/api/settings', { json });
    expect([answer.status, answer.problem.errors!.map((error) => error.path)]).toEqual([400, [path]]);
    expect(await read()).toEqual(CONFIGURED);
  });

  test('are part of the policy, and are restored with a revision', async () => {
    await api.send('PUT', '/api/settings', { json: { local_domain: 'one.example' } });
    const [revision] = (await api.send('GET', '/api/revisions')).body as Revision[];
    expect(revision!.summary).toBe('configuration dns.local_domain: changed');
    await api.send('PUT', '/api/settings', { json: { local_domain: 'two.example' } });
    expect(await readConfigRows(suite.database)).toMatchObject({
      'dns.never_forward_non_fqdn': true,
      'dns.local_domain': 'two.example',
    });
    await api.send('POST', `/api/revisions/${revision!.id}/rollback`);
    expect((await read()).local_domain).toBe('one.example');
  });
});
