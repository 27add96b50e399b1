/** Provides data about the access of clients to this node, for the API, health and the start message. */
import type { Config } from '../../../config/schema.ts';
import type { HealthCheck } from '../../../shared/api/system-api.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { ClientDirectory } from '../devices/client-directory.ts';
import type { ActiveAccess, AccessRows } from './active-access.ts';
import { AccessReports } from './access-reports.ts';
import { AccessState } from './access-state.ts';
import type { RefusedNetworks } from './refused-networks.ts';
import { UntrustedProxies } from './untrusted-proxies.ts';
import { accessNetwork } from './access-network.ts';
import type { Announcement } from './access-reports.ts';
import type { AccessNow } from './access-state.ts';
import { whoMayAsk } from './allowed-in-words.ts';

/** Dependencies of `NodeAccess`. */
export interface NodeAccessParts {
  readonly access: ActiveAccess;
  readonly clients: ClientDirectory;
  readonly configuration: { current(): Config };
  readonly publisher: { current(): { readonly rows: AccessRows } };
  readonly refusedNetworks: Pick<RefusedNetworks, 'all'>;
  readonly clock: Clock;
}

/** Access of clients to this node. One per node. */
export class NodeAccess {
  readonly reports: AccessReports;
  readonly state: AccessState;
  readonly proxies = new UntrustedProxies();
  private readonly config: () => Config;

  constructor(parts: NodeAccessParts) {
    this.config = () => parts.configuration.current();
    this.reports = new AccessReports({
      ...parts,
      rows: () => parts.publisher.current().rows,
      refused: () => parts.refusedNetworks.all(),
    });
    this.state = new AccessState({ ...parts, config: this.config, proxies: this.proxies });
  }

  /** The health check for access. */
  check(): HealthCheck {
    const { allowed_clients: allowed } = this.config().dns;
    return accessCheck(allowed, this.reports.announcement(), this.state.now());
  }
}

/** Maximum number of networks that are listed; others are only counted. */
const LISTED = 3;

/** The warnings as text. */
export const OPEN_WITHOUT_LIMIT =
  'anyone on the internet may use this server without a rate limit: set dns.allowed_clients to your networks, or enable the rate limit (dns.rate_limit.enabled)';

/** Degraded if recent clients are about to be refused, or if this node is an open resolver. */
export function accessCheck(
  allowed: readonly string[],
  announcement: Announcement | null,
  { warnings, onlyAddress }: AccessNow,
): HealthCheck {
  if (announcement !== null) return announcedCheck(allowed, announcement);
  if (warnings.includes('open_without_limit')) return { status: 'degraded', detail: OPEN_WITHOUT_LIMIT };
  const hidden =
    onlyAddress === null
      ? ''
      : `; all queries come from ${onlyAddress}, which hides the addresses of clients`;
  return { status: 'ok', detail: `${whoMayAsk(allowed)} may use this server${hidden}` };
}

function announcedCheck(allowed: readonly string[], { untilMs, clients }: Announcement): HealthCheck {
  const until = new Date(untilMs)
    .toISOString()
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC');
  if (clients.length === 0)
    return { status: 'ok', detail: `anyone may use this server until ${until}, then ${whoMayAsk(allowed)}` };
  const networks = [...new Set(clients.map(({ address }) => accessNetwork(address)))];
  const more = networks.length > LISTED ? ` and ${networks.length - LISTED} more` : '';
  const listed = networks.slice(0, LISTED).join(', ');
  return {
    status: 'degraded',
    detail: `recent clients will be refused from ${until} on: add their networks to dns.allowed_clients (${listed}${more})`,
  };
}
