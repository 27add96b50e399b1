/** AdGuard Home's upstream servers: pools, zones with servers of their own, reverse zones. Pure. */
import { PRIVATE_NETWORKS } from '../../../../shared/net/reverse-zone.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addBootstrap, PlannedPools, type PoolStrategy } from '../plan/planned-pools.ts';
import { readUpstream } from '../plan/upstream-text.ts';
import type { AdguardSettings } from './adguard-settings.ts';

const STRATEGIES: Readonly<Record<string, PoolStrategy>> = {
  load_balance: 'Balanced',
  parallel: 'Parallel',
  fastest_addr: 'Fastest',
};

/** Adds them. */
export function mapAdguardDns(builder: PlanBuilder, { dns }: AdguardSettings): void {
  const pools = new PlannedPools(builder, readUpstream);
  const file = dns.text('upstream_dns_file') ?? '';
  if (file !== '')
    builder.notMapped(
      'configuration',
      `upstream_dns_file ${file}`,
      'that file has the upstreams, and is not in the export: enter them by hand',
    );
  else
    pools.add(
      'adguard-home',
      strategyOf(builder, dns),
      plainServers(builder, pools, dns.texts('upstream_dns') ?? []),
    );
  pools.add('fallback', 'Parallel', plainServers(builder, pools, dns.texts('fallback_dns') ?? []));
  pools.finish('dns.upstream_dns');
  addBootstrap(builder, dns.texts('bootstrap_dns') ?? [], 'dns.bootstrap_dns');
  if (dns.flag('use_private_ptr_resolvers') !== false)
    mapReverse(builder, pools, dns.texts('local_ptr_upstreams') ?? []);
}

function strategyOf(builder: PlanBuilder, dns: AdguardSettings['dns']): PoolStrategy {
  // Before schema 28 each mode had a switch.
  const old =
    dns.flag('all_servers') === true
      ? 'parallel'
      : dns.flag('fastest_addr') === true
        ? 'fastest_addr'
        : 'load_balance';
  const mode = dns.text('upstream_mode') ?? old;
  if (mode === 'fastest_addr')
    builder.notMapped(
      'configuration',
      'upstream_mode fastest_addr',
      'AdGuard Home tries the addresses of answers; Weir asks the fastest server',
    );
  return STRATEGIES[mode] ?? 'Balanced';
}

/** The servers without domains; those with become zones. */
function plainServers(builder: PlanBuilder, pools: PlannedPools, lines: readonly string[]): string[] {
  const servers: string[] = [];
  for (const line of lines.map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const forDomains = /^\[\/(.*)\/\](.*)$/.exec(line);
    if (forDomains === null) servers.push(line);
    else mapDomains(builder, pools, forDomains[1]!.split('/'), forDomains[2]!.trim());
  }
  return servers;
}

function mapDomains(
  builder: PlanBuilder,
  pools: PlannedPools,
  domains: readonly string[],
  written: string,
): void {
  const servers = written === '#' ? [] : pools.servers(written.split(/\s+/));
  for (const domain of domains) {
    const reason = reasonAgainst(domain, written);
    if (reason !== null) builder.notMapped('forward_zone', `[/${domain}/]`, reason);
    else if (servers.length === 0)
      builder.notMapped('forward_zone', domain, 'Weir cannot ask any of its servers');
    else builder.zone({ zone: domain, servers, enabled: true }, builder.item('forward_zone', domain));
  }
}

function reasonAgainst(domain: string, written: string): string | null {
  if (domain === '') return 'Weir has no servers for names of one label alone';
  if (domain.startsWith('*.')) return 'Weir has no servers for subdomains without their domain';
  return written === '#' ? 'Weir has no exceptions from forward zones' : null;
}

/** The servers that know the names of private addresses. */
function mapReverse(builder: PlanBuilder, pools: PlannedPools, written: readonly string[]): void {
  const servers = pools.servers(plainServers(builder, pools, written));
  if (servers.length === 0) return;
  const item = builder.item('forward_zone', `local_ptr_upstreams ${servers.join(' ')}`);
  for (const network of PRIVATE_NETWORKS) builder.zone({ zone: network, servers, enabled: true }, item);
}
