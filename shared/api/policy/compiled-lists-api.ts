/** Requests and answers of `{api}/blocklist` and `{api}/allowlist`: the rules that are in force. */
import { z } from 'zod';
import { Page, pageOf, text } from '../fields.ts';

export const CompiledListQuery = Page.extend({
  search: text(255).min(1).optional().meta({ description: 'part of the rule, in any case' }),
});
export type CompiledListQuery = z.output<typeof CompiledListQuery>;

/** One rule of the lists and filters in force. */
export const CompiledRule = z
  .strictObject({
    domain: z
      .string()
      .meta({ description: 'a name; the text of the rule where `match` is `pattern` or `regex`' }),
    match: z.enum(['exact', 'subdomains', 'pattern', 'regex']).meta({
      description: 'that name alone, the name with its subdomains, or what the text describes',
    }),
    important: z.boolean().meta({ description: 'outranks allow rules of lists' }),
    sources: z.array(z.string()).meta({ description: 'names of the lists and filters that say so' }),
  })
  .meta({ id: 'CompiledRule' });
export type CompiledRule = z.infer<typeof CompiledRule>;

export const CompiledRulePage = pageOf(CompiledRule)
  .extend({
    total_is_estimate: z.boolean().meta({
      description: 'the total is reckoned from a part of the names, as very many of them hold the text',
    }),
  })
  .meta({ id: 'CompiledRulePage' });
export type CompiledRulePage = z.infer<typeof CompiledRulePage>;
