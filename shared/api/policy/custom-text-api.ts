/** The text of custom rules, in requests and answers of `{api}/blocklist-sources` and `{api}/allowlist-sources`. */
import { z } from 'zod';

/** Bytes of the text of custom rules. */
export const MAX_TEXT_BYTES = 16 * 1_048_576;

/** Rules as people write them: lines of any list syntax. */
export const CustomText = z
  .string()
  .max(MAX_TEXT_BYTES)
  .refine(
    (value) => new TextEncoder().encode(value).length <= MAX_TEXT_BYTES,
    `expected at most ${MAX_TEXT_BYTES} bytes of UTF-8`,
  )
  .meta({
    id: 'CustomText',
    description: 'rules in any list syntax, one a line',
    examples: ['||ads.example.org^'],
  });

/** Rules that a text would make, and the lines that would be refused. */
export const TextVerdict = z
  .strictObject({
    rules: z.int().min(0),
    refused: z.array(z.strictObject({ line: z.int().min(1), reason: z.string() })).meta({
      description: 'lines that make no rule, in their order; the first 100 invalid and 100 skipped ones',
    }),
  })
  .meta({ id: 'TextVerdict' });
export type TextVerdict = z.infer<typeof TextVerdict>;

export const TextQuery = z.object({
  dry_run: z
    .enum(['true', 'false', ''])
    .default('false')
    .transform((value) => value !== 'false')
    .meta({ type: 'boolean', description: 'only reports what would become of the text' }),
});
