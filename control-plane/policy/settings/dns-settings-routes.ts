/** HTTP routes of `{api}/settings`. A change is stored and active when the response is sent. */
import { expectedInstead, hostPort } from '../../../config/value-checks.ts';
import { DnsSettings, DnsSettingsBody } from '../../../shared/api/settings-api.ts';
import { invalid } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import type { Entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { PolicyChanges } from '../change/change.ts';
import { readConfigRows } from './config-store.ts';
import type { Configuration } from './configuration.ts';
import { dnsSettings } from './dns-settings.ts';

type StoredSettings = Pick<Configuration, 'written' | 'writtenWith' | 'change'>;

export function dnsSettingsRoutes(context: {
  policy: PolicyChanges;
  configuration: StoredSettings;
}): Route[] {
  const settings = entity({
    path: '/settings',
    answer: DnsSettings,
    body: DnsSettingsBody,
    read: async (db) => dnsSettings(context.configuration.writtenWith(await readConfigRows(db))),
  });
  return [
    readSettings(context.configuration, settings),
    changeSettings(context, settings, 'POST'),
    changeSettings(context, settings, 'PUT'),
  ];
}

function readSettings(configuration: StoredSettings, settings: Entity): Route {
  return route({
    method: 'GET',
    path: '/settings',
    access: 'viewer',
    tag: 'Forwarding',
    summary: 'The DNS settings: how names of the local network are looked up',
    answer: DnsSettings,
    entity: settings,
    handle: () => dnsSettings(configuration.written()),
  });
}

function changeSettings(
  { policy, configuration }: { policy: PolicyChanges; configuration: StoredSettings },
  settings: Entity,
  method: 'POST' | 'PUT',
): Route {
  return route({
    method,
    path: '/settings',
    access: 'admin',
    tag: 'Forwarding',
    summary: 'Change the DNS settings; absent fields keep their value',
    body: DnsSettingsBody,
    answer: DnsSettings,
    entity: settings,
    errors: {
      409:
        'an environment variable of this node sets a changed key, or its configuration file cannot be ' +
        'changed',
    },
    handle: async (request) => {
      const { body } = request;
      const server = body.local_dns_server ?? '';
      const expected = server === '' ? undefined : expectedInstead(hostPort, server);
      if (expected !== undefined)
        throw invalid([{ path: 'local_dns_server', message: `expected ${expected}, or an empty string` }]);
      const stored = dnsSettings(configuration.written());
      // A field that is sent back unchanged is not stored, so that it keeps following the default.
      const fields = Object.entries(body).filter(
        ([name, value]) => value !== undefined && value !== stored[name as keyof DnsSettings],
      );
      const values = Object.fromEntries(fields.map(([name, value]) => [`dns.${name}`, value]));
      await configuration.change(policy, authorOf(request), values);
      return dnsSettings(configuration.written());
    },
  });
}
