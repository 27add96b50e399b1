/** Answers of `{api}/revisions`. */
import { z } from 'zod';
import { ChangeCodes } from './audit-api.ts';
import { former, MAX_ID, optionalQueryInt, Timestamp } from './fields.ts';

export const Revision = z
  .strictObject({
    id: z.int().min(1),
    created_at: Timestamp,
    author: z.string().meta({ description: 'a user name, or `system`' }),
    summary: z.string(),
    codes: ChangeCodes.nullable().meta({ description: 'null if an earlier release wrote the revision' }),
    is_own: z.boolean().meta({
      description: 'made by Weir itself, such as new content of a list; a rollback keeps these changes',
    }),
    can_rollback: z.boolean().meta({
      description:
        'whether a rollback to it is possible: it is not older than the last 100 revisions made by users',
    }),
  })
  .meta({ id: 'Revision' });
export type Revision = z.infer<typeof Revision>;

/** A row that a revision changed, with the columns of its table. */
const ChangedRow = z
  .strictObject({
    table: z.string(),
    key: z.string(),
    before: z.unknown().meta({ description: 'null = it did not exist; secrets are `***`', examples: [null] }),
    after: z.unknown().meta({ description: 'null = deleted', examples: [{ id: 2, name: 'Kids' }] }),
  })
  .meta({ id: 'ChangedRow' });

export const RevisionDetail = Revision.extend({
  ip_address: z
    .string()
    .nullable()
    .meta({ description: 'address of the client that sent the request; null unless the caller is an admin' }),
  address: former(z.string().nullable(), 'ip_address'),
  changes: z
    .array(ChangedRow)
    .nullable()
    .meta({ description: 'null after the audit log has deleted the change' }),
  left_out: z.int().min(0).meta({ description: 'number of changed rows that are not shown' }),
}).meta({ id: 'RevisionDetail' });
export type RevisionDetail = z.infer<typeof RevisionDetail>;

export const RollbackQuery = z.object({
  expected_head: optionalQueryInt(1, MAX_ID).meta({
    description:
      'the newest revision that the caller knows; 409 if users have made a newer one, which would also be undone',
  }),
});

export const RevisionList = z.array(Revision);
