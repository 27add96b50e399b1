/** Requests and answers of `{api}/explain`. */
import { z } from 'zod';
import { nameFromText } from '../dns/name.ts';
import { rrTypeCode } from '../dns/iana.ts';
import { canonicalDomain } from '../policy/domain-rule.ts';
import { QUERY_STATUS_NAMES } from '../query-log.ts';
import { ClientKey, Id, optionalQueryInt, text, Timestamp } from './fields.ts';

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
        'rules, groups and lists are those of that time, and with a kept generation schedules and grants, too; clients’ addresses, the configuration and upstreams are those of now in any case',
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
              'what the stage found where that is no rule; of client_group: what gave the client its group',
          }),
        })
        .meta({ id: 'ExplainedStage' }),
    ),
    answer: z
      .strictObject({
        rcode: z.string(),
        answers: z.array(
          z.strictObject({ name: z.string(), type: z.string(), ttl: z.int(), data: z.string() }),
        ),
      })
      .nullable()
      .meta({ description: 'what would be sent; null = nothing' }),
  })
  .meta({ id: 'Explanation' });
export type ExplainAnswer = z.infer<typeof ExplainAnswer>;
