/** HTTP of `{api}/settings`. A change is in the database and in force when the answer is sent. */
import { expectedInstead, hostPort } from '../../../config/value-checks.ts';
import { DnsSettings, DnsSettingsBody } from '../../../shared/api/settings-api.ts';
import { invalid } from '../../api/api-error.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { PolicyChanges } from '../change/change.ts';
import type { Configuration } from './configuration.ts';
import { dnsSettings } from './dns-settings.ts';

/** Rows of the settings of DNS. */
export function dnsSettingsRoutes(context: {
  policy: PolicyChanges;
  configuration: Pick<Configuration, 'written' | 'change'>;
}): Route[] {
  return [
    readSettings(context.configuration),
    changeSettings(context.policy, context.configuration, 'POST'),
    changeSettings(context.policy, context.configuration, 'PUT'),
  ];
}

function readSettings(configuration: Pick<Configuration, 'written' | 'change'>): Route {
  return route({
    method: 'GET',
    path: '/settings',
    access: 'viewer',
    tag: 'Forwarding',
    summary: 'How names of the local network are looked up',
    answer: DnsSettings,
    handle: () => dnsSettings(configuration.written()),
  });
}

function changeSettings(
  policy: PolicyChanges,
  configuration: Pick<Configuration, 'written' | 'change'>,
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
    errors: { 409: 'set by the environment of this node, or its configuration file cannot be changed' },
    handle: async (request) => {
      const { body } = request;
      const server = body.local_dns_server ?? '';
      const expected = server === '' ? undefined : expectedInstead(hostPort, server);
      if (expected !== undefined)
        throw invalid([{ path: 'local_dns_server', message: `expected ${expected}, or the empty text` }]);
      const fields = Object.entries(body).filter(([, value]) => value !== undefined);
      const values = Object.fromEntries(fields.map(([name, value]) => [`dns.${name}`, value]));
      await configuration.change(policy, authorOf(request), values);
      return dnsSettings(configuration.written());
    },
  });
}
