/** Request and answer of `{api}/blocklist-sources/preview` and the same for allowlists. */
import { z } from 'zod';
import { Id } from '../fields.ts';
import { UnusedLine, Url } from '../policy/sources-api.ts';

/** A list to preview. */
export const ListPreviewBody = z
  .strictObject({ url: Url, subdomains: z.boolean().default(false) })
  .meta({ id: 'ListPreviewRequest', examples: [{ url: 'https://lists.example.org/ads.txt' }] });
export type ListPreviewRequest = z.output<typeof ListPreviewBody>;

const Count = z.int().min(0);

/** Content of a list, and how many of its rules active lists already have. */
export const ListPreview = z
  .strictObject({
    bytes: Count.meta({ description: 'of its uncompressed text' }),
    format: z.string().meta({ description: 'the syntax of most of its lines' }),
    names: Count.meta({ description: 'number of distinct names with rules' }),
    rules: Count.meta({
      description: 'number of distinct rules: those for names, and patterns and rules with conditions',
    }),
    invalid_lines: Count,
    skipped_lines: Count.meta({ description: 'rules for browsers, such as cosmetic rules' }),
    unused: z.array(UnusedLine).meta({ description: 'the first lines without a rule, invalid ones first' }),
    covered: Count.meta({
      description:
        'number of its rules for which active lists have the same or a wider rule, such as one for a parent domain',
    }),
    overlaps: z
      .array(z.strictObject({ id: Id, name: z.string(), rules: Count }))
      .meta({ description: 'active lists that have some of its rules, the list with most of them first' }),
  })
  .meta({ id: 'ListPreview' });
export type ListPreview = z.infer<typeof ListPreview>;
