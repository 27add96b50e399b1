/** The text of custom rules, in requests and responses of `{api}/blocklist-sources` and `{api}/allowlist-sources`. */
import { z } from 'zod';

/** Maximum size of the text of custom rules, in bytes. */
export const MAX_TEXT_BYTES = 16 * 1_048_576;

/** Rules that users write: lines in any list syntax. */
export const CustomText = z
  .string()
  .max(MAX_TEXT_BYTES)
  .refine(
    (value) => new TextEncoder().encode(value).length <= MAX_TEXT_BYTES,
    `expected at most ${MAX_TEXT_BYTES} bytes of UTF-8`,
  )
  .meta({
    id: 'CustomText',
    description: 'rules in any list syntax, one per line',
    examples: ['||ads.example.org^'],
  });

/** Result of a change of custom rules: numbers of rules, and lines without a rule. */
export const TextVerdict = z
  .strictObject({
    rules: z.int().min(0),
    refused: z.array(z.strictObject({ line: z.int().min(1), reason: z.string() })).meta({
      description:
        'lines that contain no rule, in order: the first 100 invalid lines and the first 100 skipped lines',
    }),
  })
  .meta({ id: 'TextVerdict' });
export type TextVerdict = z.infer<typeof TextVerdict>;

export const TextQuery = z.object({
  dry_run: z
    .enum(['true', 'false', ''])
    .default('false')
    .transform((value) => value !== 'false')
    .meta({ type: 'boolean', description: 'only reports the result, and stores nothing' }),
});
