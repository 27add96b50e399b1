/** HTTP of `{api}/settings`. A change is in the database and in force when the answer is sent. */
import { expectedInstead, hostPort } from '../../config/value-checks.ts';
import type { DnsSettings, DnsSettingsChange } from '../../shared/api/settings-api.ts';
import { invalid } from '../api/api-error.ts';
import type { ApiContext } from '../api/api-context.ts';
import { authorOf } from '../api/route.ts';
import type { RouteRequest } from '../api/route.ts';
import { readWrittenSettings, writeSettings } from './dns-settings-store.ts';
import { dnsSettings } from './dns-settings.ts';

/** GET settings */
export async function readSettings(context: ApiContext): Promise<DnsSettings> {
  return dnsSettings(context.config(), await readWrittenSettings(context.database));
}

/** POST and PUT settings */
export async function changeSettings(
  context: ApiContext,
  request: RouteRequest<unknown, unknown, DnsSettingsChange>,
): Promise<DnsSettings> {
  const { body } = request;
  const server = body.local_dns_server ?? '';
  const expected = server === '' ? undefined : expectedInstead(hostPort, server);
  if (expected !== undefined)
    throw invalid([{ path: 'local_dns_server', message: `expected ${expected}, or the empty text` }]);
  const fields = Object.entries(body).filter(([, value]) => value !== undefined);
  const written = await context.policy.change(authorOf(request), async (tx) => {
    const result = fields.length === 0 ? await readWrittenSettings(tx) : await writeSettings(tx, body);
    const changes = fields.map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(', ');
    return { result, summary: fields.length === 0 ? null : `DNS settings: ${changes}` };
  });
  return dnsSettings(context.config(), written);
}
