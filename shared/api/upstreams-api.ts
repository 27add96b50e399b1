/** Answers of `{api}/upstream/health` and `{api}/upstream/health/detail`. */
import { z } from 'zod';
import { FINDINGS } from '../policy/hardening-settings.ts';
import { text } from './fields.ts';

export const UpstreamStatus = z.enum(['Healthy', 'Unhealthy', 'Unknown']).meta({ id: 'UpstreamStatus' });
export type UpstreamStatus = z.infer<typeof UpstreamStatus>;

/** Status of servers, by their configured text. */
export const UpstreamHealth = z.record(z.string(), UpstreamStatus).meta({
  id: 'UpstreamHealth',
  description:
    'by server; of one in several pools the best state. A server of forward zones has its state there, unless it is in a pool too',
});
export type UpstreamHealth = z.infer<typeof UpstreamHealth>;

const Count = z.int().min(0);
const Millis = z.number().min(0);

export const UpstreamFinding = z.enum(FINDINGS).meta({
  id: 'UpstreamFinding',
  description:
    'what was found in the last hour: `supported`; `unsupported` (it lacks it); `altered` (it changes what it should repeat: the case of the name, the cookie); `refused` (it refuses questions, or connections, with it); `silent` (it does not answer them); `unknown`',
});
export type UpstreamFinding = z.infer<typeof UpstreamFinding>;

const UpstreamSupport = z
  .strictObject({
    edns: UpstreamFinding,
    cookies: UpstreamFinding.meta({ description: 'DNS cookies (RFC 7873), found out by probes' }),
    case: UpstreamFinding.meta({ description: 'names in mixed case, found out by probes' }),
    tcp: UpstreamFinding,
    answers_per_connection: Count.nullable().meta({
      description: 'answers after which it closes a connection; null if no limit was seen',
    }),
  })
  .meta({
    id: 'UpstreamSupport',
    description: 'what the server supports, learned once per node; findings expire after an hour',
  });
export type UpstreamSupport = z.infer<typeof UpstreamSupport>;

/** One server of one pool, or of one forward zone, all workers together, since the start. */
export const UpstreamDetail = z
  .strictObject({
    address: z.string(),
    protocol: z.enum(['udp', 'tcp', 'tls', 'https']),
    status: UpstreamStatus,
    pool_name: z.string().meta({
      description:
        'the pool; of a forward zone the zone, and `local_dns_server` of the zone that this setting makes',
    }),
    kind: z.enum(['pool', 'forward_zone']),
    strategy: z.enum(['Parallel', 'Failover', 'Balanced', 'Fastest']),
    latency_ms: z
      .strictObject({ avg: Millis, p50: Millis, p95: Millis })
      .nullable()
      .meta({ description: 'over the last 256 answers of each worker; null before the first' }),
    queries: Count,
    failures: Count,
    consecutive_failures: Count,
    last_error: z.string().nullable(),
    resolved: z.array(z.string()).meta({ description: 'addresses that are asked' }),
    supports: UpstreamSupport,
    removes_signatures: z
      .boolean()
      .meta({ description: 'DNSSEC signatures are missing in its answers, so that others are asked first' }),
  })
  .meta({ id: 'UpstreamDetail' });
export type UpstreamDetail = z.infer<typeof UpstreamDetail>;

export const UpstreamDetailList = z.array(UpstreamDetail);

/** Servers to try, before a pool has them. */
export const UpstreamTestBody = z
  .strictObject({
    servers: z.array(text(300)).min(1).max(16).meta({ description: 'as in dns.pools[].servers' }),
  })
  .meta({ id: 'UpstreamTest', examples: [{ servers: ['tls://dns.example.org@192.0.2.53'] }] });
export type UpstreamTest = z.output<typeof UpstreamTestBody>;

/** Result of asking one server. */
export const UpstreamTestResult = z
  .strictObject({
    address: z.string().meta({ description: 'as it was given' }),
    reachable: z.boolean().meta({ description: 'a DNS message came back, also one that refuses' }),
    answers: z.boolean().meta({ description: 'it has answered a question about the root' }),
    latency_ms: Millis.nullable().meta({
      description: 'of a question once the connection was there; null without an answer',
    }),
    dnssec: z.enum(['validates', 'signed', 'unsigned', 'unknown']).meta({
      description:
        'whether it includes the signatures of signed names, and says that it has validated them (AD); `unsigned`: it removes them, so that Weir cannot validate its answers',
    }),
    error: z.string().nullable().meta({ description: 'why it has not answered' }),
  })
  .meta({ id: 'UpstreamTestResult' });
export type UpstreamTestResult = z.infer<typeof UpstreamTestResult>;

export const UpstreamTestResultList = z
  .array(UpstreamTestResult)
  .meta({ description: 'in the order of the request' });

/** Categories that an operator of an upstream blocks by itself. */
export const UpstreamFilter = z.enum(['malware', 'ads', 'adult']).meta({ id: 'UpstreamFilter' });

/** A public resolver that people may choose. */
export const KnownUpstream = z
  .strictObject({
    operator: z.string(),
    variant: z.string().meta({ description: 'which of its resolvers; empty for an operator of one' }),
    country: z
      .string()
      .length(2)
      .meta({ description: 'seat of the operator, ISO 3166', examples: ['CH'] }),
    filters: z.array(UpstreamFilter).meta({ description: 'what it blocks by itself; empty = nothing' }),
    validates: z.boolean().meta({ description: 'it validates DNSSEC' }),
    logging: z.enum(['none', 'anonymous', 'temporary', 'stored', 'unknown']).meta({
      description:
        'of queries, as its privacy page says: none; without addresses of clients; with them for some days at most; longer; not clear',
    }),
    page: z.string().meta({ description: 'its page about privacy, or the service' }),
    udp: z.array(z.string()).meta({ description: 'servers in the form of dns.pools[].servers' }),
    tls: z.array(z.string()),
    https: z.array(z.string()),
  })
  .meta({ id: 'KnownUpstream' });
export type KnownUpstream = z.infer<typeof KnownUpstream>;
export const KnownUpstreamList = z.array(KnownUpstream);
