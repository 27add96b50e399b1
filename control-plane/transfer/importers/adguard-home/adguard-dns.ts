/** AdGuard Home's upstream servers: pools, forward zones, reverse zones. Pure. */
import { importReason } from '../../../../shared/policy/reasons/import-reasons.ts';
import { PRIVATE_NETWORKS } from '../../../../shared/net/reverse-zone.ts';
import { placeOf } from '../plan/client-place.ts';
import type { PlanBuilder } from '../plan/plan-builder.ts';
import { addBootstrap, PlannedPools, type PoolStrategy } from '../plan/planned-pools.ts';
import { readUpstream, type ReadUpstream } from '../plan/upstream-text.ts';
import type { AdguardSettings } from './adguard-settings.ts';

const STRATEGIES: Readonly<Record<string, PoolStrategy>> = {
  load_balance: 'Balanced',
  parallel: 'Parallel',
  fastest_addr: 'Fastest',
};

const OF_ONE_LABEL = importReason('single_label_servers');

/** Adds the upstream servers. */
export function mapAdguardDns(builder: PlanBuilder, settings: AdguardSettings): void {
  const { dns, upstreamFile } = settings;
  const pools = new PlannedPools(builder, reader(builder));
  const file = dns.text('upstream_dns_file') ?? '';
  const lines = file === '' ? (dns.texts('upstream_dns') ?? []) : upstreamFile;
  if (lines === null)
    builder.notMapped('configuration', `upstream_dns_file ${file}`, importReason('adguard_upstream_file'));
  else {
    const servers = plainServers(builder, pools, lines);
    pools.add('adguard-home', strategyOf(builder, dns), servers);
    mapExceptions(builder, pools.servers(servers, false), lines);
  }
  pools.add('fallback', 'Parallel', plainServers(builder, pools, dns.texts('fallback_dns') ?? []));
  pools.finish('dns.upstream_dns');
  addBootstrap(builder, dns.texts('bootstrap_dns') ?? [], 'dns.bootstrap_dns');
  if (dns.flag('use_private_ptr_resolvers') !== false) mapReverse(builder, pools, settings);
}

/** Reads servers; each difference in how Weir queries a server becomes a row of the report. */
function reader(builder: PlanBuilder): (written: string) => ReadUpstream {
  const reported = new Set<string>();
  return (written) => {
    const read = readUpstream(written);
    if (read.server === null || read.remark === null) return read;
    if (!reported.has(written)) builder.differs('configuration', `upstream ${written}`, read.remark, []);
    reported.add(written);
    return { server: read.server, remark: null };
  };
}

function strategyOf(builder: PlanBuilder, dns: AdguardSettings['dns']): PoolStrategy {
  // Before schema 28 each mode had its own switch.
  const old =
    dns.flag('all_servers') === true
      ? 'parallel'
      : dns.flag('fastest_addr') === true
        ? 'fastest_addr'
        : 'load_balance';
  const mode = dns.text('upstream_mode') ?? old;
  if (mode === 'fastest_addr')
    builder.differs('configuration', 'upstream_mode fastest_addr', importReason('adguard_fastest'), []);
  return STRATEGIES[mode] ?? 'Balanced';
}

/** `[/a.b/]#` exempts a name from the servers of a parent domain: the name gets the general servers. */
function mapExceptions(builder: PlanBuilder, servers: readonly string[], lines: readonly string[]): void {
  for (const line of lines) {
    const [, domains] = /^\[\/(.+)\/\]\s*#\s*$/.exec(line.trim()) ?? [];
    for (const domain of domains?.split('/') ?? []) {
      const zone = domain.replace(/^\*\./, '');
      if (zone === '') builder.notMapped('forward_zone', `[/${domain}/]#`, OF_ONE_LABEL);
      else if (servers.length === 0)
        builder.notMapped('forward_zone', `[/${domain}/]#`, importReason('no_servers'));
      else {
        const item = builder.item(
          'forward_zone',
          `[/${domain}/]#`,
          importReason('adguard_general_upstreams'),
        );
        builder.zone({ zone, servers: servers.slice(0, 8), enabled: true }, item);
      }
    }
  }
}

/** The servers without domains; servers with domains become zones. */
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
  if (written === '#') return;
  const servers = pools.servers(written.split(/\s+/));
  for (const domain of domains) {
    const zone = domain.replace(/^\*\./, '');
    if (zone === '') builder.notMapped('forward_zone', `[/${domain}/]`, OF_ONE_LABEL);
    else if (servers.length === 0) builder.notMapped('forward_zone', domain, importReason('no_servers'));
    else {
      builder.zone({ zone, servers, enabled: true }, builder.item('forward_zone', domain));
      if (zone !== domain)
        builder.differs('forward_zone', `[/${domain}/]`, importReason('adguard_zone_itself', { zone }), [
          zone,
        ]);
    }
  }
}

/** The servers that know the names of private addresses. */
function mapReverse(builder: PlanBuilder, pools: PlannedPools, { dns, rewrites }: AdguardSettings): void {
  const servers = pools.servers(plainServers(builder, pools, dns.texts('local_ptr_upstreams') ?? []));
  if (servers.length === 0) {
    if (dns.flag('use_private_ptr_resolvers') === true)
      builder.differs(
        'forward_zone',
        'dns.use_private_ptr_resolvers',
        importReason('adguard_private_names'),
        [],
      );
    return;
  }
  if (rewrites.some(({ answer, enabled }) => enabled && placeOf(answer)?.kind === 'ip'))
    builder.differs(
      'forward_zone',
      'names of addresses in rewrites',
      importReason('adguard_reverse_names'),
      [],
    );
  const networks = dns.texts('private_networks') ?? [];
  const item = builder.item('forward_zone', `local_ptr_upstreams ${servers.join(' ')}`);
  for (const network of networks.length > 0 ? networks : PRIVATE_NETWORKS)
    builder.zone({ zone: network, servers, enabled: true }, item);
}
