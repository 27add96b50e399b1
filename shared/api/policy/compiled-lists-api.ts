/**
 * Requests and responses of `{api}/blocklist` and `{api}/allowlist` (the active rules), and statistics of each list.
 */
import { z } from 'zod';
import { Id, Page, pageOf, Period, text } from '../fields.ts';

export const CompiledListQuery = Page.extend({
  search: text(255).min(1).optional().meta({ description: 'part of the rule; letter case is ignored' }),
});
export type CompiledListQuery = z.output<typeof CompiledListQuery>;

/** One rule of the active lists and filters. */
export const CompiledRule = z
  .strictObject({
    domain: z.string().meta({
      description: 'the name that the rule is for; the text of the rule if `match` is `pattern` or `regex`',
    }),
    match: z.enum(['exact', 'subdomains', 'pattern', 'regex']).meta({
      description:
        'what the rule matches: only that name, the name with its subdomains, or the pattern in `domain`',
    }),
    important: z
      .boolean()
      .meta({ description: 'whether the rule takes precedence over allow rules of lists' }),
    sources: z.array(z.string()).meta({ description: 'names of the lists and filters that have the rule' }),
  })
  .meta({ id: 'CompiledRule' });
export type CompiledRule = z.infer<typeof CompiledRule>;

export const CompiledRulePage = pageOf(CompiledRule)
  .extend({
    total_is_estimate: z.boolean().meta({
      description:
        'whether the total is an estimate, from a part of the names, because very many names contain the ' +
        'text',
    }),
  })
  .meta({ id: 'CompiledRulePage' });
export type CompiledRulePage = z.infer<typeof CompiledRulePage>;

export const SourceStatsQuery = z.object({ period: Period.default('24h') });
export type SourceStatsQuery = z.output<typeof SourceStatsQuery>;

/** Statistics of each list. */
export const SourceStatsList = z.array(
  z
    .strictObject({
      id: Id,
      hits: z
        .int()
        .min(0)
        .nullable()
        .meta({
          description:
            'queries of the period that a rule of the list blocked; if several lists have the rule, the query ' +
            'counts for each of them. Null for allowlists, because the log does not contain the rules that ' +
            'allowed queries',
        }),
      sole_hits: z.int().min(0).nullable().meta({
        description: 'number of queries in `hits` whose rule is in no other list',
      }),
      rules: z
        .int()
        .min(0)
        .meta({
          description:
            'number of distinct active rules of the list on this node; 0 while the list is disabled or not ' +
            'compiled',
        }),
      unique_rules: z
        .int()
        .min(0)
        .meta({
          description:
            'number of rules of the list that no other active list has: neither an equal rule nor, for names, ' +
            'one for a parent domain. Patterns and rules with conditions are compared by their text',
        }),
      safe_search_exceptions: z.array(z.string()).meta({
        description:
          'names of search engines that an exception of the list allows. Groups that use the list and enforce ' +
          'safe search do not apply it to these names',
      }),
    })
    .meta({ id: 'SourceStats' }),
);
export type SourceStatsList = z.infer<typeof SourceStatsList>;
