/** What a node knows of who may ask: for the API, health and the start message. */
import type { Config } from '../../config/schema.ts';
import type { HealthCheck } from '../../shared/api/system-api.ts';
import type { Clock } from '../../shared/clock.ts';
import type { ClientDirectory } from '../clients/client-directory.ts';
import { accessCheck } from './access-health.ts';
import type { AccessInForce, AccessRows } from './access-in-force.ts';
import { AccessReports } from './access-reports.ts';
import { AccessState } from './access-state.ts';
import type { RefusedNetworks } from './refused-networks.ts';
import { UntrustedProxies } from './untrusted-proxies.ts';

/** What it is made of. */
export interface NodeAccessParts {
  readonly access: AccessInForce;
  readonly clients: ClientDirectory;
  readonly configuration: { current(): Config };
  readonly publisher: { current(): { readonly rows: AccessRows } };
  readonly refusedNetworks: Pick<RefusedNetworks, 'all'>;
  readonly clock: Clock;
}

/** One per node. */
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

  /** The check of health. */
  check(): HealthCheck {
    const { allowed_clients: allowed } = this.config().dns;
    return accessCheck(allowed, this.reports.announcement(), this.state.now());
  }
}
