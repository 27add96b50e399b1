/** Responses of `{api}/upstream/health` and `{api}/upstream/health/detail`. */
import { z } from 'zod';
import { FINDINGS } from '../policy/hardening-settings.ts';
import { text } from './fields.ts';

export const UpstreamStatus = z.enum(['Healthy', 'Unhealthy', 'Unknown']).meta({ id: 'UpstreamStatus' });
export type UpstreamStatus = z.infer<typeof UpstreamStatus>;

/** Status of upstream servers, keyed by their URL in the configuration. */
export const UpstreamHealth = z.record(z.string(), UpstreamStatus).meta({
  id: 'UpstreamHealth',
  description:
    'states by server; a server in several pools has its best state. The state in a forward zone is ' +
    'used only for servers that are in no pool',
});
export type UpstreamHealth = z.infer<typeof UpstreamHealth>;

const Count = z.int().min(0);
const Millis = z.number().min(0);

export const UpstreamFinding = z.enum(FINDINGS).meta({
  id: 'UpstreamFinding',
  description:
    'finding of the last hour: `supported`; `unsupported`; `altered` (the server changes what it should ' +
    'repeat: the case of the name, the cookie); `refused` (the server refuses queries or connections ' +
    'with the feature); `silent` (the server does not answer them); `unknown`',
});
export type UpstreamFinding = z.infer<typeof UpstreamFinding>;

const UpstreamSupport = z
  .strictObject({
    edns: UpstreamFinding,
    cookies: UpstreamFinding.meta({ description: 'DNS cookies (RFC 7873), tested with probes' }),
    case: UpstreamFinding.meta({ description: 'names in mixed case (0x20), tested with probes' }),
    tcp: UpstreamFinding,
    answers_per_connection: Count.nullable().meta({
      description: 'number of answers after which the server closes a connection; null if no limit was seen',
    }),
  })
  .meta({
    id: 'UpstreamSupport',
    description: 'features of the server, learned once per node; findings expire after an hour',
  });
export type UpstreamSupport = z.infer<typeof UpstreamSupport>;

/** State and counters of a server in one pool or forward zone, summed over all workers since the start. */
export const UpstreamDetail = z
  .strictObject({
    address: z.string(),
    protocol: z.enum(['udp', 'tcp', 'tls', 'https']),
    status: UpstreamStatus,
    pool_name: z.string().meta({
      description:
        'name of the pool; for a forward zone its name, and `local_dns_server` for the zones of that ' +
        'setting',
    }),
    kind: z.enum(['pool', 'forward_zone']),
    strategy: z.enum(['Parallel', 'Failover', 'Balanced', 'Fastest']),
    latency_ms: z.strictObject({ avg: Millis, p50: Millis, p95: Millis }).nullable().meta({
      description:
        'distribution of the latency of the last 256 answers of each worker; null before the first answer',
    }),
    queries: Count,
    failures: Count,
    consecutive_failures: Count,
    last_error: z.string().nullable(),
    resolved: z.array(z.string()).meta({ description: 'addresses of the server that are in use' }),
    supports: UpstreamSupport,
    removes_signatures: z.boolean().meta({
      description:
        'whether the answers of the server lack DNSSEC signatures, so that other servers are asked first',
    }),
  })
  .meta({ id: 'UpstreamDetail' });
export type UpstreamDetail = z.infer<typeof UpstreamDetail>;

export const UpstreamDetailList = z.array(UpstreamDetail);

/** Servers to test before they are added to a pool. */
export const UpstreamTestBody = z
  .strictObject({
    servers: z
      .array(text(300))
      .min(1)
      .max(16)
      .meta({ description: 'servers to test, in the form of dns.pools[].servers' }),
  })
  .meta({ id: 'UpstreamTest', examples: [{ servers: ['tls://dns.example.org@192.0.2.53'] }] });
export type UpstreamTest = z.output<typeof UpstreamTestBody>;

/** Result of asking one server. */
export const UpstreamTestResult = z
  .strictObject({
    address: z.string().meta({ description: 'server as in the request' }),
    reachable: z.boolean().meta({ description: 'whether the server sent any DNS message, even a refusal' }),
    answers: z.boolean().meta({ description: 'whether the server answered a query for the root' }),
    latency_ms: Millis.nullable().meta({
      description: 'response time of a query on an open connection; null without an answer',
    }),
    dnssec: z.enum(['validates', 'signed', 'unsigned', 'unknown']).meta({
      description:
        'whether the server returns the signatures of signed names, and reports that it has validated them ' +
        '(AD bit); `unsigned`: it removes signatures, so that Weir cannot validate its answers',
    }),
    error: z.string().nullable().meta({ description: 'why the server did not answer' }),
  })
  .meta({ id: 'UpstreamTestResult' });
export type UpstreamTestResult = z.infer<typeof UpstreamTestResult>;

export const UpstreamTestResultList = z
  .array(UpstreamTestResult)
  .meta({ description: 'results in the order of the request' });

/** Categories that the operator of an upstream blocks. */
export const UpstreamFilter = z.enum(['malware', 'ads', 'adult']).meta({ id: 'UpstreamFilter' });

/** A public resolver that users can choose. */
export const KnownUpstream = z
  .strictObject({
    operator: z.string(),
    variant: z
      .string()
      .meta({ description: 'name of the resolver, for an operator that has several; otherwise empty' }),
    country: z
      .string()
      .length(2)
      .meta({ description: 'country of the operator, ISO 3166', examples: ['CH'] }),
    filters: z
      .array(UpstreamFilter)
      .meta({ description: 'categories of names that the resolver blocks; empty = none' }),
    validates: z.boolean().meta({ description: 'whether the resolver validates DNSSEC' }),
    logging: z.enum(['none', 'anonymous', 'temporary', 'stored', 'unknown']).meta({
      description:
        'what the operator logs, according to its privacy page. anonymous: queries without client ' +
        'addresses; temporary: with addresses, for a few days at most; stored: longer; unknown: the page is ' +
        'unclear',
    }),
    page: z.string().meta({ description: "URL of the operator's page about privacy, or about the service" }),
    udp: z.array(z.string()).meta({ description: 'servers in the form of dns.pools[].servers' }),
    tls: z.array(z.string()),
    https: z.array(z.string()),
  })
  .meta({ id: 'KnownUpstream' });
export type KnownUpstream = z.infer<typeof KnownUpstream>;
export const KnownUpstreamList = z.array(KnownUpstream);
