/** Answers of `{api}/upstream/health` and `{api}/upstream/health/detail`. */
import { z } from 'zod';
import { FINDINGS } from '../policy/hardening-settings.ts';
import { text } from './fields.ts';

export const UpstreamStatus = z.enum(['Healthy', 'Unhealthy', 'Unknown']).meta({ id: 'UpstreamStatus' });
export type UpstreamStatus = z.infer<typeof UpstreamStatus>;

/** Status of servers, by their text in the configuration. */
export const UpstreamHealth = z.record(z.string(), UpstreamStatus).meta({
  id: 'UpstreamHealth',
  description:
    'by server; for a server in several pools, its best state. The state in a forward zone is used only for servers that are not in a pool',
});
export type UpstreamHealth = z.infer<typeof UpstreamHealth>;

const Count = z.int().min(0);
const Millis = z.number().min(0);

export const UpstreamFinding = z.enum(FINDINGS).meta({
  id: 'UpstreamFinding',
  description:
    'finding of the last hour: `supported`; `unsupported`; `altered` (it changes what it should repeat: the case of the name, the cookie); `refused` (it refuses questions, or connections, with the feature); `silent` (it does not answer them); `unknown`',
});
export type UpstreamFinding = z.infer<typeof UpstreamFinding>;

const UpstreamSupport = z
  .strictObject({
    edns: UpstreamFinding,
    cookies: UpstreamFinding.meta({ description: 'DNS cookies (RFC 7873), tested with probes' }),
    case: UpstreamFinding.meta({ description: 'names in mixed case, tested with probes' }),
    tcp: UpstreamFinding,
    answers_per_connection: Count.nullable().meta({
      description: 'number of answers after which it closes a connection; null if no limit was seen',
    }),
  })
  .meta({
    id: 'UpstreamSupport',
    description: 'features of the server, learned once per node; findings expire after an hour',
  });
export type UpstreamSupport = z.infer<typeof UpstreamSupport>;

/** State and counters of a server in one pool or forward zone, for all workers together since the start. */
export const UpstreamDetail = z
  .strictObject({
    address: z.string(),
    protocol: z.enum(['udp', 'tcp', 'tls', 'https']),
    status: UpstreamStatus,
    pool_name: z.string().meta({
      description:
        'the pool; for a forward zone the zone, and `local_dns_server` for the zone of that setting',
    }),
    kind: z.enum(['pool', 'forward_zone']),
    strategy: z.enum(['Parallel', 'Failover', 'Balanced', 'Fastest']),
    latency_ms: z
      .strictObject({ avg: Millis, p50: Millis, p95: Millis })
      .nullable()
      .meta({ description: 'of the last 256 answers of each worker; null before the first' }),
    queries: Count,
    failures: Count,
    consecutive_failures: Count,
    last_error: z.string().nullable(),
    resolved: z.array(z.string()).meta({ description: 'addresses in use' }),
    supports: UpstreamSupport,
    removes_signatures: z
      .boolean()
      .meta({ description: 'its answers lack DNSSEC signatures, so that others are asked first' }),
  })
  .meta({ id: 'UpstreamDetail' });
export type UpstreamDetail = z.infer<typeof UpstreamDetail>;

export const UpstreamDetailList = z.array(UpstreamDetail);

/** Servers to test before they are added to a pool. */
export const UpstreamTestBody = z
  .strictObject({
    servers: z.array(text(300)).min(1).max(16).meta({ description: 'in the form of dns.pools[].servers' }),
  })
  .meta({ id: 'UpstreamTest', examples: [{ servers: ['tls://dns.example.org@192.0.2.53'] }] });
export type UpstreamTest = z.output<typeof UpstreamTestBody>;

/** Result of asking one server. */
export const UpstreamTestResult = z
  .strictObject({
    address: z.string().meta({ description: 'as in the request' }),
    reachable: z.boolean().meta({ description: 'whether it answered with a DNS message, even a refusal' }),
    answers: z.boolean().meta({ description: 'whether it answered a question about the root' }),
    latency_ms: Millis.nullable().meta({
      description: 'response time of a question on an open connection; null without an answer',
    }),
    dnssec: z.enum(['validates', 'signed', 'unsigned', 'unknown']).meta({
      description:
        'whether it includes the signatures of signed names, and reports that it has validated them (AD); `unsigned`: it removes them, so that Weir cannot validate its answers',
    }),
    error: z.string().nullable().meta({ description: 'reason why there is no answer' }),
  })
  .meta({ id: 'UpstreamTestResult' });
export type UpstreamTestResult = z.infer<typeof UpstreamTestResult>;

export const UpstreamTestResultList = z
  .array(UpstreamTestResult)
  .meta({ description: 'in the order of the request' });

/** Categories that the operator of an upstream blocks. */
export const UpstreamFilter = z.enum(['malware', 'ads', 'adult']).meta({ id: 'UpstreamFilter' });

/** A public resolver that users can choose. */
export const KnownUpstream = z
  .strictObject({
    operator: z.string(),
    variant: z.string().meta({ description: 'which of its resolvers; empty if the operator has only one' }),
    country: z
      .string()
      .length(2)
      .meta({ description: 'country of the operator, ISO 3166', examples: ['CH'] }),
    filters: z.array(UpstreamFilter).meta({ description: 'categories that it blocks; empty = none' }),
    validates: z.boolean().meta({ description: 'it validates DNSSEC' }),
    logging: z.enum(['none', 'anonymous', 'temporary', 'stored', 'unknown']).meta({
      description:
        'logging of queries according to its privacy page. anonymous: without client addresses; temporary: with them, for a few days at most; stored: longer; unknown: the page is unclear',
    }),
    page: z.string().meta({ description: 'its page about privacy, or about the service' }),
    udp: z.array(z.string()).meta({ description: 'servers in the form of dns.pools[].servers' }),
    tls: z.array(z.string()),
    https: z.array(z.string()),
  })
  .meta({ id: 'KnownUpstream' });
export type KnownUpstream = z.infer<typeof KnownUpstream>;
export const KnownUpstreamList = z.array(KnownUpstream);
