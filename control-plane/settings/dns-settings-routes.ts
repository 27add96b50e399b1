/** HTTP of `{api}/settings`. A change is in the database and in force when the answer is sent. */
import type { Config } from '../../config/schema.ts';
import { expectedInstead, hostPort } from '../../config/value-checks.ts';
import { DnsSettings, DnsSettingsBody } from '../../shared/api/settings-api.ts';
import { invalid } from '../api/api-error.ts';
import { authorOf, route } from '../api/route.ts';
import type { Route } from '../api/route.ts';
import type { Database } from '../db/database.ts';
import type { PolicyChanges } from '../policy/change.ts';
import { readWrittenSettings, writeSettings } from './dns-settings-store.ts';
import { dnsSettings } from './dns-settings.ts';

/** What these rows are made of. */
export interface DnsSettingsRouteParts {
  readonly database: Database;
  readonly policy: PolicyChanges;
  /** Asked for each request, because a reload replaces it. */
  readonly config: () => Config;
}

/** Rows of the settings of DNS. */
export function dnsSettingsRoutes(parts: DnsSettingsRouteParts): Route[] {
  return [readSettings(parts), changeSettings(parts, 'POST'), changeSettings(parts, 'PUT')];
}

function readSettings(parts: DnsSettingsRouteParts): Route {
  return route({
    method: 'GET',
    path: '/settings',
    access: 'viewer',
    tag: 'Forwarding',
    summary: 'How names of the local network are looked up',
    answer: DnsSettings,
    handle: async () => dnsSettings(parts.config(), await readWrittenSettings(parts.database)),
  });
}

function changeSettings(parts: DnsSettingsRouteParts, method: 'POST' | 'PUT'): Route {
  return route({
    method,
    path: '/settings',
    access: 'admin',
    tag: 'Forwarding',
    summary: 'Change the DNS settings; absent fields keep their value',
    body: DnsSettingsBody,
    answer: DnsSettings,
    handle: async (request) => {
      const { body } = request;
      const server = body.local_dns_server ?? '';
      const expected = server === '' ? undefined : expectedInstead(hostPort, server);
      if (expected !== undefined)
        throw invalid([{ path: 'local_dns_server', message: `expected ${expected}, or the empty text` }]);
      const fields = Object.entries(body).filter(([, value]) => value !== undefined);
      const written = await parts.policy.change(authorOf(request), async (tx) => {
        const result = fields.length === 0 ? await readWrittenSettings(tx) : await writeSettings(tx, body);
        const changes = fields.map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(', ');
        return { result, summary: fields.length === 0 ? null : `DNS settings: ${changes}` };
      });
      return dnsSettings(parts.config(), written);
    },
  });
}
