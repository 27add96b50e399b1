/** Requests and answers of `{api}/explain`. */
import { z } from 'zod';
import { nameFromText } from '../dns/name.ts';
import { rrTypeCode } from '../dns/iana.ts';
import { canonicalDomain } from '../policy/domain-rule.ts';
import { QUERY_STATUS_NAMES } from '../query-log.ts';
import { ClientKey, Id, MAX_ID, optionalQueryInt, text, Timestamp } from './fields.ts';
import { UpstreamDetail, UpstreamStatus } from './upstreams-api.ts';

/** Any name that a query could carry; IDN becomes A-labels. */
const QueriedName = text(1020)
  .min(1)
  .transform((value, context) => {
    const name = canonicalDomain(value) ?? value.trim();
    if (name !== '' && nameFromText(name) !== null) return name;
    context.addIssue('expected a domain name');
    return z.NEVER;
  });

export const ExplainQuery = z.object({
  domain: QueriedName.optional(),
  query_id: optionalQueryInt(1, Number.MAX_SAFE_INTEGER).meta({
    description: 'a row of the query log, instead of domain, type and client',
  }),
  type: z
    .string()
    .refine((value) => rrTypeCode(value) !== undefined, 'expected a type such as A, HTTPS or TYPE65')
    .optional()
    .meta({ description: 'A if it is absent' }),
  client: z
    .union([z.ipv4(), z.ipv6()], 'expected an IP address')
    .optional()
    .meta({ description: 'the address of the client that would ask; 127.0.0.1 if it is absent' }),
  client_id: optionalQueryInt(1, MAX_ID).meta({
    description: 'a client of `/clients`, instead of its address and key',
  }),
  group_id: optionalQueryInt(1, MAX_ID).meta({
    description: 'the group to explain for, instead of the one that the client is in',
  }),
  client_key: ClientKey.optional().meta({
    description: 'the key that the client would name itself by over TLS or HTTPS',
  }),
});
export type ExplainQuery = z.output<typeof ExplainQuery>;

export const ExplainedRule = z
  .strictObject({
    judged: z
      .string()
      .meta({ description: 'the name that the rule meets: the queried one, or one of the answer' }),
    rule: z.string().meta({ description: 'the rule as its author would write it' }),
    origin: z.enum([
      'list',
      'managed_domain',
      'regex_filter',
      'service',
      'local_record',
      'schedule',
      'grant',
    ]),
    source: z
      .string()
      .meta({ description: 'name of the first list, filter, service or schedule profile that says so' }),
    sources: z.array(z.string()),
    line: z.int().nullable().meta({ description: 'line of the rule in the copy of the first list' }),
  })
  .meta({ id: 'ExplainedRule' });
export type ExplainedRule = z.infer<typeof ExplainedRule>;

export const ExplainedList = z
  .strictObject({
    source_id: Id,
    source: z.string().meta({ description: 'name of the list' }),
    kind: z.enum(['block', 'allow']).meta({ description: 'blocklist or allowlist' }),
    action: z.enum(['block', 'allow', 'rewrite']).meta({ description: 'what its rule does' }),
    name: z.string().meta({
      description: 'the queried name or the parent of it at which the rule stands; empty for patterns',
    }),
    rule: z.string().meta({ description: 'the rule as its author would write it' }),
    line: z.int().nullable().meta({ description: 'null if it is not known without a search' }),
    state: z.enum(['active', 'other_group', 'off', 'lifted']).meta({
      description:
        'whether the rule counts for the group: its list may serve other groups only or be disabled, and a `$badfilter` rule may lift it',
    }),
  })
  .meta({ id: 'ExplainedList' });
export type ExplainedList = z.infer<typeof ExplainedList>;

const ExplainedPool = z
  .strictObject({
    name: z.string(),
    strategy: UpstreamDetail.shape.strategy,
    servers: z.array(z.strictObject({ address: z.string(), status: UpstreamStatus })),
  })
  .meta({ id: 'ExplainedPool' });
export type ExplainedPool = z.infer<typeof ExplainedPool>;

const ExplainedUpstreams = z
  .strictObject({
    zone: z.string().nullable().meta({ description: 'the forward zone of the name; null = the pools' }),
    pools: z.array(ExplainedPool).meta({
      description:
        'first the one that is asked first; the servers of a forward zone are one pool. Pools are those of now',
    }),
    answered_by: z.string().nullable().meta({
      description: 'the server that gave the answer, also one from the cache; null = none, or not known',
    }),
  })
  .meta({ id: 'ExplainedUpstreams' });

const LoggedThen = z
  .strictObject({
    query_id: z.int(),
    timestamp: Timestamp,
    status: z.enum(QUERY_STATUS_NAMES),
    block_source: z.string().nullable(),
    block_rule: z.string().nullable(),
    revision: z.int().nullable().meta({ description: 'the newest one when it was answered; null = none' }),
    current_revision: z.int().nullable().meta({ description: 'the newest one now' }),
    by: z.enum(['policy_in_force', 'kept_generation']).meta({
      description:
        'what the rest of this answer explains by: the policy of now, or `snapshot_id`, the generation of that moment, which does not ask the upstreams again',
    }),
    exact: z.boolean().meta({
      description:
        'rules, groups and lists are those of that time, and so are schedules and grants if the generation was kept; the addresses of clients, the configuration and upstreams are always the current ones',
    }),
    reason: z.string().nullable().meta({ description: 'why it is not exact' }),
  })
  .meta({ id: 'LoggedThen' });
export type LoggedThen = z.infer<typeof LoggedThen>;

export const ExplainAnswer = z
  .strictObject({
    logged: LoggedThen.optional().meta({ description: 'what the log says; only for query_id' }),
    domain: z.string(),
    type: z.string(),
    client: z.string(),
    group_id: Id,
    snapshot_id: z.int(),
    status: z.enum(QUERY_STATUS_NAMES).meta({ description: 'as the query log would have it' }),
    decided_by: ExplainedRule.nullable(),
    stages: z.array(
      z
        .strictObject({
          stage: z.string(),
          verdict: z.enum(['continue', 'answered', 'dropped', 'unresolved']),
          rules: z
            .array(ExplainedRule)
            .meta({ description: 'all that meet the name, whether they decide or not' }),
          detail: z.string().nullable().meta({
            description:
              'what the stage found, if not a rule; for client_group: what gave the client its group',
          }),
        })
        .meta({ id: 'ExplainedStage' }),
    ),
    lists: z.array(ExplainedList).meta({
      description: 'every compiled list with a rule for the name, whether it serves the group or not',
    }),
    upstreams: ExplainedUpstreams.nullable().meta({
      description: 'who is asked about the name, if the cache has no answer; null = decided before',
    }),
    answer: z
      .strictObject({
        rcode: z.string(),
        answers: z.array(
          z.strictObject({ name: z.string(), type: z.string(), ttl: z.int(), data: z.string() }),
        ),
      })
      .nullable()
      .meta({
        description:
          'what would be sent; for a kept generation the logged answer. Null = nothing is sent, or, if the last stage is unresolved, the answer of that time is not in the log',
      }),
  })
  .meta({ id: 'Explanation' });
export type ExplainAnswer = z.infer<typeof ExplainAnswer>;
