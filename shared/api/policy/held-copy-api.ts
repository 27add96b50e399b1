/** Description of a held update of a list. */
import { z } from 'zod';

/** Reason why an update is held: see `list-guard.ts`; `undone` = a rollback restored the previous copy. */
const HoldReason = z.enum([
  'shrank',
  'grew',
  'blocks_names',
  'allows_less',
  'undone',
  'every_name',
  'addresses',
  'most_names',
]);

/** A newer version of a list that waits for approval while the current one stays active. */
export const HeldCopy = z
  .strictObject({
    reason: HoldReason,
    rules: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: 'number of rules in the held update; null = not known' }),
    rules_in_force: z
      .int()
      .min(0)
      .meta({ description: 'number of rules in the active copy, counted in the same way as `rules`' }),
    names: z.array(z.string()).meta({
      description:
        'frequently queried names that the held update would newly block, or no longer allow; if the reason ' +
        'is most_names, names queried in the last day that the update matches. Only the first 20',
    }),
    name_count: z.int().min(0).meta({
      description: 'number of names of the kind that `names` lists, including those that it leaves out',
    }),
    wide_rules: z
      .array(z.strictObject({ line: z.int().min(1), rule: z.string() }))
      .optional()
      .meta({
        description:
          'if the reason is every_name: the rules that match every name under a condition. Only the first 20',
      }),
    address_percent: z
      .number()
      .min(0)
      .optional()
      .meta({
        description:
          'if the reason is addresses: the percentage of IPv4, or of 2000::/3, that the address rules of the held update ' +
          'cover; the larger of the two',
      }),
  })
  .meta({ id: 'HeldCopy' });
export type HeldCopy = z.infer<typeof HeldCopy>;
