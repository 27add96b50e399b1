/** Finds clients that have queried the name of a public encrypted resolver, because they may then use that resolver. */
import type { ResolverLookup } from '../../../../shared/api/policy/clients-api.ts';
import type { LoggedQuery } from '../../../../shared/api/query-log-api.ts';
import type { QueryLogReader } from '../../../query-log/reading/query-log-reader.ts';
import type { LogQuestions } from '../../../query-log/log-search/log-questions.ts';
import type { Span } from '../../../query-log/statistics/counts-reader.ts';

/**
 * Maximum number of resolver names whose rows are read (the most queried first), and of rows that are read per name
 * (the newest first).
 */
const MAX_READ = 20;
const MAX_ROWS = 500;

/** The queries, by client and resolver, the newest first. */
export async function resolverLookups(
  stats: Pick<LogQuestions, 'namesBelow'>,
  queryLog: Pick<QueryLogReader, 'page'>,
  span: Span,
  gone: AbortSignal,
): Promise<ResolverLookup[]> {
  const names = await stats.namesBelow({ ...span, roots: [...RESOLVERS] }, gone);
  const found = new Map<string, ResolverLookup>();
  for (const domain of names.slice(0, MAX_READ)) {
    const { fromMs, toMs } = span;
    const period = { from: new Date(fromMs), to: new Date(toMs) };
    const page = await queryLog.page({ ...period, domain, limit: MAX_ROWS, offset: 0 }, gone);
    // Compared again, because the filter also matches parts of names.
    for (const row of page.data) if (row.domain === domain) note(found, row);
  }
  return [...found.values()].sort((a, b) => b.last_asked.localeCompare(a.last_asked));
}

/** Adds a row. Rows of one name must be in descending order of time. */
function note(found: Map<string, ResolverLookup>, row: LoggedQuery): void {
  const resolver = resolverOf(row.domain)!;
  const key = `${row.client} ${row.client_id} ${resolver}`;
  const before = found.get(key);
  if (before !== undefined && before.last_asked >= row.timestamp) return;
  found.set(key, {
    client: row.client,
    client_hostname: row.client_hostname,
    client_id: row.client_id,
    resolver,
    last_asked: row.timestamp,
    status: row.status,
  });
}

/**
 * Names of resolvers; subdomains also count. If a domain has many other uses, only the host of the resolver is listed.
 */
const RESOLVERS: ReadonlySet<string> = new Set([
  ...['dns.google', 'cloudflare-dns.com', 'one.one.one.one', 'cloudflare-gateway.com'],
  ...['dns.quad9.net', 'dns9.quad9.net', 'dns10.quad9.net', 'dns11.quad9.net', 'dns12.quad9.net'],
  ...['doh.opendns.com', 'doh.familyshield.opendns.com', 'dns.umbrella.com', 'doh.sandbox.opendns.com'],
  ...['dns.nextdns.io', 'dns.controld.com', 'freedns.controld.com', 'dns.mullvad.net'],
  ...['dns.adguard.com', 'dns.adguard-dns.com', 'unfiltered.adguard-dns.com', 'family.adguard-dns.com'],
  ...[
    'doh.cleanbrowsing.org',
    'doh.dns.sb',
    'dns.dnsguard.pub',
    'dnsforge.de',
    'dns.digitale-gesellschaft.ch',
  ],
  ...['unfiltered.joindns4.eu', 'protective.joindns4.eu'],
  ...['doh.xfinity.com', 'doh.dns.apple.com', 'dns.alidns.com', 'doh.pub', 'dot.pub', 'doh.360.cn'],
  ...['ordns.he.net', 'doh.libredns.gr', 'doh.applied-privacy.net', 'doh.ffmuc.net', 'dns.switch.ch'],
  ...['mask.icloud.com', 'mask-h2.icloud.com'],
]);

/** The resolver to which a name belongs; null for all other names. */
export function resolverOf(name: string): string | null {
  for (let rest = name.toLowerCase(); rest !== ''; rest = rest.slice(rest.indexOf('.') + 1)) {
    if (RESOLVERS.has(rest)) return rest;
    if (!rest.includes('.')) return null;
  }
  return null;
}
