/** HTTP routes of `{api}/system/update`. */
import { SystemUpdate } from '../../../shared/api/updates/updates-api.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { Configuration } from '../../policy/settings/configuration.ts';
import type { UpdateCheck } from './update-check.ts';

/** The route of the update check. */
export function updateRoutes(context: {
  updates: Pick<UpdateCheck, 'state'>;
  configuration: Pick<Configuration, 'current'>;
  version: string;
}): Route[] {
  const { updates, configuration, version } = context;
  return [
    route({
      method: 'GET',
      path: '/system/update',
      access: 'viewer',
      tag: 'System',
      summary: 'Whether a newer version of Weir is available',
      answer: SystemUpdate,
      handle: () => {
        const { checkedAtMs, newer, fault } = updates.state();
        const { update_url: url } = configuration.current().server;
        return {
          source: url === '' ? null : url,
          version,
          checked_at: checkedAtMs === null ? null : new Date(checkedAtMs).toISOString(),
          newer,
          fault,
        };
      },
    }),
  ];
}
