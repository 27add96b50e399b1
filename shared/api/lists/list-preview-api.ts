/** Request and answer of `{api}/blocklist-sources/preview` and the same for allowlists. */
import { z } from 'zod';
import { Id } from '../fields.ts';
import { UnusedLine, Url } from '../policy/sources-api.ts';

/** A list to look at. */
export const ListPreviewBody = z
  .strictObject({ url: Url, subdomains: z.boolean().default(false) })
  .meta({ id: 'ListPreviewRequest', examples: [{ url: 'https://lists.example.org/ads.txt' }] });
export type ListPreviewRequest = z.output<typeof ListPreviewBody>;

const Count = z.int().min(0);

/** Contents of a list, and how many of its rules active lists have already. */
export const ListPreview = z
  .strictObject({
    bytes: Count.meta({ description: 'of its text, uncompressed' }),
    format: z.string().meta({ description: 'the syntax most of its lines are written in' }),
    names: Count.meta({ description: 'different names at which it has rules' }),
    rules: Count.meta({
      description: 'different rules: those at names, and patterns and rules with conditions',
    }),
    invalid_lines: Count,
    skipped_lines: Count.meta({ description: 'rules for browsers, cosmetic rules and their likes' }),
    unused: z.array(UnusedLine).meta({ description: 'the first lines without a rule, invalid ones first' }),
    covered: Count.meta({
      description:
        'of its rules, those that active lists have: the same or a wider one, also at a parent domain',
    }),
    overlaps: z
      .array(z.strictObject({ id: Id, name: z.string(), rules: Count }))
      .meta({ description: 'active lists by how many of its rules each one has, most first' }),
  })
  .meta({ id: 'ListPreview' });
export type ListPreview = z.infer<typeof ListPreview>;
