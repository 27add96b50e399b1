/** Requests and responses of `{api}/explain`. */
import { z } from 'zod';
import { nameFromText } from '../dns/name.ts';
import { rrTypeCode } from '../dns/iana.ts';
import { canonicalDomain } from '../policy/domain-rule.ts';
import { QUERY_STATUS_NAMES } from '../query-log.ts';
import { ClientKey, Id, MAX_ID, optionalQueryInt, text, Timestamp } from './fields.ts';
import { UpstreamDetail, UpstreamStatus } from './upstreams-api.ts';

/** Any name that a query can contain; labels in Unicode are converted to A-labels. */
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
    description: 'id of a row of the query log to explain, instead of domain, type and client',
  }),
  type: z
    .string()
    .refine((value) => rrTypeCode(value) !== undefined, 'expected a type such as A, HTTPS or TYPE65')
    .optional()
    .meta({ description: 'type of the query, such as AAAA; A if absent' }),
  client: z
    .union([z.ipv4(), z.ipv6()], 'expected an IP address')
    .optional()
    .meta({ description: 'IP address of the client; 127.0.0.1 if absent' }),
  client_id: optionalQueryInt(1, MAX_ID).meta({
    description: 'id of a client from `/clients`, instead of its address and key',
  }),
  group_id: optionalQueryInt(1, MAX_ID).meta({
    description: 'id of the group to explain for, instead of the group of the client',
  }),
  client_key: ClientKey.optional().meta({
    description: 'key with which the client would identify itself over TLS or HTTPS',
  }),
});
export type ExplainQuery = z.output<typeof ExplainQuery>;

export const ExplainedRule = z
  .strictObject({
    judged: z
      .string()
      .meta({ description: 'the name that the rule matches: the queried name, or a name in the answer' }),
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
      .meta({ description: 'name of the first list, filter, service or schedule profile that has the rule' }),
    sources: z.array(z.string()),
    line: z.int().nullable().meta({ description: 'line of the rule in the stored copy of the first list' }),
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
      description: 'the name that the rule is for: the queried name or a parent domain; empty for patterns',
    }),
    rule: z.string().meta({ description: 'the rule in the syntax of its source' }),
    line: z
      .int()
      .nullable()
      .meta({ description: 'line of the rule in the list; null if finding the line would need a search' }),
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
      .meta({ description: 'the forward zone that contains the name; null = none, so the pools are asked' }),
    pools: z.array(ExplainedPool).meta({
      description:
        'pools in the order in which they are asked; the servers of a forward zone are one pool. Always the ' +
        'current pools, even for a logged query',
    }),
    answered_by: z
      .string()
      .nullable()
      .meta({
        description:
          'the server that sent the answer, even if the answer came from the cache; null = no server, or ' +
          'unknown',
      }),
  })
  .meta({ id: 'ExplainedUpstreams' });

const Inexact = z
  .strictObject({
    cause: z.enum(['changed_since', 'changed_while_explaining', 'change_in_progress']).meta({
      description:
        'why the explanation may differ from the original decision: policy or lists have changed since the ' +
        'answer or during this request, or the query was answered while a change was being applied',
    }),
    missing: z.enum(['other_node', 'not_stored']).meta({
      description:
        'why the policy with which the query was answered is not used: only another node may have it, or it ' +
        'is no longer stored',
    }),
    node: z.string().meta({ description: 'the node that answered the query' }),
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
      .meta({ description: 'the newest revision when the query was answered; null = none' }),
    current_revision: z.int().nullable().meta({ description: 'the current revision' }),
    by: z.enum(['policy_in_force', 'kept_generation']).meta({
      description:
        'policy_in_force: the explanation uses the current policy; kept_generation: it uses the stored ' +
        'policy snapshot `snapshot_id` with which the query was answered, and upstreams are not asked',
    }),
    exact: z.boolean().meta({
      description:
        'whether rules, groups and lists are the same as when the query was answered; with a stored policy ' +
        'snapshot also schedules and grants. Client addresses, the configuration and the upstreams ' +
        'are always the current ones',
    }),
    reason: z.string().nullable().meta({ description: 'reason why `exact` is false' }),
    inexact: Inexact.nullable().meta({
      description: 'the reason as a code with parameters; null if `exact` is true',
    }),
  })
  .meta({ id: 'LoggedThen' });
export type LoggedThen = z.infer<typeof LoggedThen>;

export const ExplainAnswer = z
  .strictObject({
    logged: LoggedThen.optional().meta({ description: 'outcome in the query log; only with query_id' }),
    domain: z.string(),
    type: z.string(),
    client: z.string(),
    group_id: Id,
    snapshot_id: z.int(),
    status: z.enum(QUERY_STATUS_NAMES).meta({ description: 'status in the query log' }),
    decided_by: ExplainedRule.nullable(),
    stages: z.array(
      z
        .strictObject({
          stage: z.string(),
          verdict: z.enum(['continue', 'answered', 'dropped', 'unresolved']),
          rules: z
            .array(ExplainedRule)
            .meta({ description: 'all rules that match the name, even if another rule or stage decides' }),
          detail: z.string().nullable().meta({
            description:
              'result of the stage, if the result is not a rule; for client_group how the group was determined',
          }),
        })
        .meta({ id: 'ExplainedStage' }),
    ),
    lists: z.array(ExplainedList).meta({
      description:
        'every compiled list with a rule for the name, even if the list does not apply to the group',
    }),
    upstreams: ExplainedUpstreams.nullable().meta({
      description:
        'the servers that are asked for the name if the cache has no answer; null = an earlier stage ' +
        'decides',
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
          'the answer that the client gets; with a stored policy snapshot the logged answer. Null = the ' +
          'client gets no answer, or, if the last stage is unresolved, the log does not contain the answer',
      }),
  })
  .meta({ id: 'Explanation' });
export type ExplainAnswer = z.infer<typeof ExplainAnswer>;
