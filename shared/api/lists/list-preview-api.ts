/** Request and response of `{api}/blocklist-sources/preview` and `{api}/allowlist-sources/preview`. */
import { z } from 'zod';
import { Id } from '../fields.ts';
import { UnusedLine, Url } from '../policy/sources-api.ts';

/** A list to preview. */
export const ListPreviewBody = z
  .strictObject({ url: Url, subdomains: z.boolean().default(false) })
  .meta({ id: 'ListPreviewRequest', examples: [{ url: 'https://lists.example.org/ads.txt' }] });
export type ListPreviewRequest = z.output<typeof ListPreviewBody>;

const Count = z.int().min(0);

/** Statistics of a list, and how many of its rules active lists already have. */
export const ListPreview = z
  .strictObject({
    bytes: Count.meta({ description: 'size of the uncompressed text of the list, in bytes' }),
    format: z.string().meta({ description: 'syntax of most lines' }),
    names: Count.meta({ description: 'number of distinct names with rules' }),
    rules: Count.meta({
      description: 'number of distinct rules: rules for names, patterns, and rules with conditions',
    }),
    invalid_lines: Count,
    skipped_lines: Count.meta({
      description: 'number of lines with rules that only browsers can apply, such as cosmetic rules',
    }),
    unused: z.array(UnusedLine).meta({ description: 'the first lines without a rule, invalid ones first' }),
    covered: Count.meta({
      description:
        'number of rules for which active lists have the same or a wider rule, such as one for a parent ' +
        'domain',
    }),
    overlaps: z
      .array(z.strictObject({ id: Id, name: z.string(), rules: Count }))
      .meta({ description: 'active lists that have some of the rules, the list with most of them first' }),
  })
  .meta({ id: 'ListPreview' });
export type ListPreview = z.infer<typeof ListPreview>;
