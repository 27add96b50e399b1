/** Answers of `{api}/blocklist-sources/stats` and `{api}/allowlist-sources/stats`. */
import { z } from 'zod';
import { Id, Period } from '../fields.ts';

export const SourceStatsQuery = z.object({ period: Period.default('24h') });
export type SourceStatsQuery = z.output<typeof SourceStatsQuery>;

/** What each list is worth. */
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
            'queries of the period that a rule of this list blocked; each of several lists that have the rule counts ' +
            'them. Null for allowlists: the log does not have the rules that let queries pass',
        }),
      sole_hits: z
        .int()
        .min(0)
        .nullable()
        .meta({ description: 'of these, those whose rule no other list had' }),
      rules: z.int().min(0).meta({
        description: 'rules in force on this node, each once; 0 while the list is disabled or not compiled',
      }),
      unique_rules: z
        .int()
        .min(0)
        .meta({
          description:
            'of these, those that no other list in force has: no equal or wider rule at the same name; patterns and ' +
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
