/** Requests and answers of `{api}/blocklist` and `{api}/allowlist`, the active rules, and of their counts by list. */
import { z } from 'zod';
import { Id, Page, pageOf, Period, text } from '../fields.ts';

export const CompiledListQuery = Page.extend({
  search: text(255).min(1).optional().meta({ description: 'part of the rule, in any case' }),
});
export type CompiledListQuery = z.output<typeof CompiledListQuery>;

/** One rule of the active lists and filters. */
export const CompiledRule = z
  .strictObject({
    domain: z
      .string()
      .meta({ description: 'a name; the text of the rule if `match` is `pattern` or `regex`' }),
    match: z.enum(['exact', 'subdomains', 'pattern', 'regex']).meta({
      description: 'only that name, the name with its subdomains, or what the text describes',
    }),
    important: z.boolean().meta({ description: 'outranks allow rules of lists' }),
    sources: z.array(z.string()).meta({ description: 'names of the lists and filters with this rule' }),
  })
  .meta({ id: 'CompiledRule' });
export type CompiledRule = z.infer<typeof CompiledRule>;

export const CompiledRulePage = pageOf(CompiledRule)
  .extend({
    total_is_estimate: z.boolean().meta({
      description: 'the total is estimated from a part of the names, because very many contain the text',
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
            'queries of the period that a rule of this list blocked; if several lists have the rule, each counts ' +
            'them. Null for allowlists: the log does not contain the rules that allowed queries',
        }),
      sole_hits: z
        .int()
        .min(0)
        .nullable()
        .meta({ description: 'number of these queries whose rule is in no other list' }),
      rules: z.int().min(0).meta({
        description:
          'active rules on this node, each counted once; 0 while the list is disabled or not compiled',
      }),
      unique_rules: z
        .int()
        .min(0)
        .meta({
          description:
            'of these, those that no other active list has: no equal or wider rule for the same name; patterns and ' +
            'rules with conditions are compared by their text',
        }),
      safe_search_exceptions: z.array(z.string()).meta({
        description:
          'names of search engines that an exception of this list allows, so that safe search, which a group of ' +
          'the list enforces, does not apply to them',
      }),
    })
    .meta({ id: 'SourceStats' }),
);
export type SourceStatsList = z.infer<typeof SourceStatsList>;
