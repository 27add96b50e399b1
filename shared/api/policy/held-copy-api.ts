/** Details of a source's held update. */
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
    rules: z.int().min(0).nullable().meta({ description: 'rules of the held update; null if not known' }),
    rules_in_force: z.int().min(0).meta({ description: 'rules of the active copy, counted the same way' }),
    names: z.array(z.string()).meta({
      description:
        'frequently queried names that it would newly block, or no longer allow; for most_names those of the ' +
        'last day that it matches; the first 20',
    }),
    name_count: z.int().min(0).meta({ description: 'number of all such names' }),
    wide_rules: z
      .array(z.strictObject({ line: z.int().min(1), rule: z.string() }))
      .optional()
      .meta({
        description: 'for every_name: the rules that match every name under a condition; the first 20',
      }),
    address_percent: z.number().min(0).optional().meta({
      description:
        'for addresses: how much of IPv4, or of 2000::/3, its address rules cover; the larger share',
    }),
  })
  .meta({ id: 'HeldCopy' });
export type HeldCopy = z.infer<typeof HeldCopy>;
