/** Whom a Pi-hole answers, as who may ask Weir. Pure. */
import { addAllowed, OWN_MACHINE, reportOpen } from '../plan/planned-access.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';

/** Adds the key for `dns.listeningMode` of version 6, or `DNSMASQ_LISTENING` of version 5. */
export function mapListening(builder: PlanBuilder, mode: string, networkInterface: string): void {
  const from = `dns.listeningMode ${mode}`;
  switch (mode.toLowerCase()) {
    case 'local':
      return addAllowed(builder, [...OWN_MACHINE, 'connected'], from);
    case 'all':
      return reportOpen(builder, from);
    case 'single':
    case 'bind':
      return builder.notMapped(
        'configuration',
        from,
        `it answers anyone who reaches the interface ${networkInterface}: set server.bind_address to its addresses, and dns.allowed_clients to the networks of your clients`,
      );
    default:
      builder.notMapped('configuration', from, 'set dns.allowed_clients to the networks of your clients');
  }
}
