/** Requests and answers of `{api}/explain`. */
import { z } from 'zod';
import { nameFromText } from '../dns/name.ts';
import { rrTypeCode } from '../dns/iana.ts';
import { canonicalDomain } from '../policy/domain-rule.ts';
import { QUERY_STATUS_NAMES } from '../query-log.ts';
import { ClientKey, Id, MAX_ID, optionalQueryInt, text, Timestamp } from './fields.ts';
import { UpstreamDetail, UpstreamStatus } from './upstreams-api.ts';

/** Any name that a query can contain; IDN becomes A-labels. */
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
    .meta({ description: 'A if absent' }),
  client: z
    .union([z.ipv4(), z.ipv6()], 'expected an IP address')
    .optional()
    .meta({ description: 'address of the client; 127.0.0.1 if absent' }),
  client_id: optionalQueryInt(1, MAX_ID).meta({
    description: 'a client of `/clients`, instead of its address and key',
  }),
  group_id: optionalQueryInt(1, MAX_ID).meta({
    description: 'the group to explain for, instead of the group of the client',
  }),
  client_key: ClientKey.optional().meta({
    description: 'the key with which the client would identify itself over TLS or HTTPS',
  }),
});
export type ExplainQuery = z.output<typeof ExplainQuery>;

export const ExplainedRule = z
  .strictObject({
    judged: z
      .string()
      .meta({ description: 'the name that the rule matches: the queried one, or one in the answer' }),
    rule: z.string().meta({ description: 'the rule in the syntax of its source' }),
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
      .meta({ description: 'name of the first list, filter, service or schedule profile with the rule' }),
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
    action: z.enum(['block', 'allow', 'rewrite']).meta({ description: 'action of the rule' }),
    name: z.string().meta({
      description: 'the name of the rule: the queried name or a parent of it; empty for patterns',
    }),
    rule: z.string().meta({ description: 'the rule in the syntax of its source' }),
    line: z.int().nullable().meta({ description: 'null if it is unknown without a search' }),
    state: z.enum(['active', 'other_group', 'off', 'lifted']).meta({
      description:
        'whether the rule is active for the group: its list may be for other groups only or be disabled, and a `$badfilter` rule may cancel it',
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
    zone: z
      .string()
      .nullable()
      .meta({ description: 'the forward zone of the name; null = none, the pools are asked' }),
    pools: z.array(ExplainedPool).meta({
      description:
        'in the order in which they are asked; the servers of a forward zone are one pool. These are the current pools, even for a logged query',
    }),
    answered_by: z.string().nullable().meta({
      description: 'the server that sent the answer, even if it came from the cache; null = none, or unknown',
    }),
  })
  .meta({ id: 'ExplainedUpstreams' });

const Inexact = z
  .strictObject({
    cause: z.enum(['changed_since', 'changed_while_explaining', 'change_in_progress']).meta({
      description:
        'policy or lists have changed since the answer, or during this request, or the query was answered while a change was being applied',
    }),
    missing: z.enum(['other_node', 'not_stored']).meta({
      description: 'why the policy of that time is not used: another node may have it, or it is not stored',
    }),
    node: z.string().meta({ description: 'the node that answered' }),
  })
  .meta({ id: 'InexactExplanation' });

const LoggedThen = z
  .strictObject({
    query_id: z.int(),
    timestamp: Timestamp,
    status: z.enum(QUERY_STATUS_NAMES),
    block_source: z.string().nullable(),
    block_rule: z.string().nullable(),
    revision: z
      .int()
      .nullable()
      .meta({ description: 'the newest one at the time of the answer; null = none' }),
    current_revision: z.int().nullable().meta({ description: 'the current one' }),
    by: z.enum(['policy_in_force', 'kept_generation']).meta({
      description:
        'the policy that the rest of this explanation uses: the current one, or `snapshot_id`, the generation of that time, for which upstreams are not asked again',
    }),
    exact: z.boolean().meta({
      description:
        'rules, groups and lists are those of that time, and so are schedules and grants if the generation was kept; the addresses of clients, the configuration and upstreams are always the current ones',
    }),
    reason: z.string().nullable().meta({ description: 'reason why it is not exact' }),
    inexact: Inexact.nullable().meta({ description: 'the reason in codes; null = exact' }),
  })
  .meta({ id: 'LoggedThen' });
export type LoggedThen = z.infer<typeof LoggedThen>;

export const ExplainAnswer = z
  .strictObject({
    logged: LoggedThen.optional().meta({ description: 'content of the log; only for query_id' }),
    domain: z.string(),
    type: z.string(),
    client: z.string(),
    group_id: Id,
    snapshot_id: z.int(),
    status: z.enum(QUERY_STATUS_NAMES).meta({ description: 'as in the query log' }),
    decided_by: ExplainedRule.nullable(),
    stages: z.array(
      z
        .strictObject({
          stage: z.string(),
          verdict: z.enum(['continue', 'answered', 'dropped', 'unresolved']),
          rules: z
            .array(ExplainedRule)
            .meta({ description: 'all that match the name, whether or not they decide' }),
          detail: z.string().nullable().meta({
            description: 'result of the stage if it is not a rule; for client_group: how the group was found',
          }),
        })
        .meta({ id: 'ExplainedStage' }),
    ),
    lists: z.array(ExplainedList).meta({
      description: 'every compiled list with a rule for the name, whether or not it is for the group',
    }),
    upstreams: ExplainedUpstreams.nullable().meta({
      description: 'the servers to ask for the name if the cache has no answer; null = decided before',
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
          'the answer to send; for a kept generation the logged answer. Null = no answer is sent, or, if the last stage is unresolved, the answer of that time is not in the log',
      }),
  })
  .meta({ id: 'Explanation' });
export type ExplainAnswer = z.infer<typeof ExplainAnswer>;
