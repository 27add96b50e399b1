/** Request and response of `{api}/simulate`: a draft of policy, and its effect on logged queries. */
import { z } from 'zod';
import { QUERY_STATUS_NAMES } from '../../query-log.ts';
import { ExplainedRule } from '../explain-api.ts';
import { former, Id, label, Period, Timestamp } from '../fields.ts';
import { Address, Cidr, Mac } from './clients-api.ts';
import { Action, Domain, GroupId, Pattern } from './rules-api.ts';
import { ServiceBlockBody } from './services-api.ts';
import { GroupIds, Url } from './sources-api.ts';

/** Maximum number of objects of each kind in a draft. */
const MAX_LISTS = 20;
const MAX_RULES = 10_000;
const MAX_EXPRESSIONS = 100;
const MAX_SERVICES = 1000;
const MAX_CLIENTS = 1000;
/** Maximum size of a list that is given as text, in UTF-16 units. */
const MAX_LIST_TEXT = 1_048_576;

const DraftSource = z
  .strictObject({ source_id: Id })
  .meta({ description: 'an existing source that is disabled or has a held update' });

const written = {
  name: label(200).default('draft'),
  kind: z.enum(['block', 'allow']).default('block'),
  group_ids: GroupIds.default([]),
  subdomains: z.boolean().default(false),
};
const DraftText = z.strictObject({ text: z.string().max(MAX_LIST_TEXT), ...written });
const DraftUrl = z
  .strictObject({ url: Url, ...written })
  .meta({ description: 'a list to fetch for this request only, within the size limits of sources' });

const DraftList = z
  .union([DraftSource, DraftText, DraftUrl], 'expected one of source_id, text and url')
  .meta({ id: 'DraftList' });
export type DraftList = z.output<typeof DraftList>;

const ids = (max: number) => z.array(Id).max(max).default([]);

const DraftManagedDomain = z.strictObject({
  domain: Domain,
  action: Action.default('deny'),
  group_id: GroupId.default(null),
});
const DraftRegexFilter = z.strictObject({
  pattern: Pattern,
  action: Action.default('deny'),
  group_id: GroupId.default(null),
});
const ClientGroup = Id.nullable().meta({
  description: 'group of the client; null = not assigned to a group',
});
const DraftClient = z.union(
  [
    z.strictObject({ ip_address: Address, group_id: ClientGroup }),
    z.strictObject({ mac_address: Mac, group_id: ClientGroup }),
  ],
  'expected group_id and either ip_address or mac_address',
);
const DraftSubnet = z.strictObject({
  subnet_cidr: Cidr,
  group_id: Id.nullable().meta({ description: 'group of the network; null = no group' }),
});

export const SimulateBody = z
  .strictObject({
    period: Period.default('24h'),
    limit: z.int().min(1).max(1000).default(100),
    lists: z
      .strictObject({ add: z.array(DraftList).max(MAX_LISTS).default([]), drop: ids(MAX_RULES) })
      .prefault({}),
    managed_domains: z
      .strictObject({ add: z.array(DraftManagedDomain).max(MAX_RULES).default([]), drop: ids(MAX_RULES) })
      .prefault({}),
    regex_filters: z
      .strictObject({ add: z.array(DraftRegexFilter).max(MAX_EXPRESSIONS).default([]), drop: ids(MAX_RULES) })
      .prefault({}),
    services: z
      .strictObject({
        block: z.array(ServiceBlockBody).max(MAX_SERVICES).default([]),
        unblock: z.array(ServiceBlockBody).max(MAX_SERVICES).default([]),
      })
      .prefault({}),
    clients: z.array(DraftClient).max(MAX_CLIENTS).default([]),
    client_subnets: z.array(DraftSubnet).max(MAX_CLIENTS).default([]),
    blocking_enabled: z
      .boolean()
      .optional()
      .meta({ description: 'whether blocking is enabled in the draft; absent = the current state' }),
  })
  .meta({
    id: 'SimulationDraft',
    examples: [
      {
        period: '7d',
        lists: { add: [{ text: '||ads.example.org^', name: 'ads' }] },
        clients: [{ ip_address: '192.0.2.10', group_id: 2 }],
      },
    ],
  });
export type SimulateBody = z.output<typeof SimulateBody>;

const Count = z.int().min(0);

const Totals = z
  .strictObject({ queries: Count, domains: Count, clients: Count })
  .meta({ id: 'SimulatedTotals' });

const Decision = z
  .strictObject({
    status: z
      .enum(QUERY_STATUS_NAMES)
      .meta({ description: 'outcome of the queries; ALLOWED for any response of an upstream' }),
    rule: ExplainedRule.nullable().meta({ description: 'the rule that blocks or allows the queries' }),
  })
  .meta({ id: 'SimulatedDecision' });

const DomainCount = z.strictObject({ domain: z.string(), queries: Count });
const OF_CLIENT = {
  ip_address: z.string(),
  ip: former(z.string(), 'ip_address'),
  hostname: z.string().nullable(),
};
const ClientCount = z.strictObject({ ...OF_CLIENT, queries: Count });
const changes = { newly_blocked: Count, newly_allowed: Count };

const ChangedDomain = z
  .strictObject({
    domain: z.string(),
    ...changes,
    type: z.string().meta({ description: 'type of the queries' }),
    before: Decision,
    after: Decision,
    clients_total: Count,
    clients: z
      .array(ClientCount)
      .meta({ description: 'the clients with most of these queries, at most ten' }),
  })
  .meta({ id: 'SimulatedDomain' });

const ChangedClient = z
  .strictObject({
    ...OF_CLIENT,
    ...changes,
    domains_total: Count,
    domains: z
      .array(DomainCount)
      .meta({ description: 'the names with the most of these queries, at most ten' }),
  })
  .meta({ id: 'SimulatedClient' });

const CompiledDraftList = z
  .strictObject({ name: z.string(), rules: Count, invalid_lines: Count })
  .meta({ id: 'CompiledDraftList' });

export const Simulation = z
  .strictObject({
    from: Timestamp,
    to: Timestamp,
    oldest: Timestamp.nullable().meta({
      description: 'time of the oldest query that was evaluated; null = none',
    }),
    snapshot_id: z
      .int()
      .meta({ description: 'number of the active policy snapshot that the draft is compared with' }),
    queries: z
      .strictObject({
        judged: Count,
        not_judged: Count.meta({
          description: 'queries that were refused or rate-limited, so that policy had no effect',
        }),
        undecided: Count.meta({
          description:
            'queries that were blocked by a rule that no longer exists, possibly because of an answer that the ' +
            'log does not contain',
        }),
        answer_unknown: Count.meta({
          description:
            'queries whose name would be newly allowed, but whose answer cannot be checked because it is not in ' +
            'the log',
        }),
        left_out: Count.meta({
          description:
            'approximate number of older queries in the period that were not evaluated, because there were too ' +
            'many',
        }),
        distinct: Count,
      })
      .meta({ id: 'SimulatedQueries' }),
    is_complete: z.boolean().meta({
      description:
        'whether all queries of the period were evaluated: none was left out, and no block of the log is ' +
        'damaged',
    }),
    damaged_blocks: Count,
    newly_blocked: Totals,
    newly_allowed: Totals,
    domains_total: Count,
    domains: z.array(ChangedDomain),
    clients_total: Count,
    clients: z.array(ChangedClient),
    lists: z.array(CompiledDraftList).meta({ description: 'lists to add, in order' }),
    elapsed_ms: z.number().min(0),
  })
  .meta({ id: 'Simulation' });
export type Simulation = z.infer<typeof Simulation>;
