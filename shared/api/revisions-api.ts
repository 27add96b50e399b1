/** Responses of `{api}/revisions`. */
import { z } from 'zod';
import { ChangeCodes } from './audit-api.ts';
import { former, MAX_ID, optionalQueryInt, Timestamp } from './fields.ts';

export const Revision = z
  .strictObject({
    id: z.int().min(1),
    created_at: Timestamp,
    author: z.string().meta({ description: 'a user name, or `system`' }),
    summary: z.string(),
    codes: ChangeCodes.nullable().meta({
      description: 'the change as codes with parameters; null if an earlier release wrote the revision',
    }),
    is_own: z.boolean().meta({
      description:
        'whether Weir made the change itself, such as new content of a list; a rollback keeps these changes',
    }),
    can_rollback: z.boolean().meta({
      description:
        'whether a rollback to this revision is possible, because it is not older than the last 100 ' +
        'revisions made by users',
    }),
  })
  .meta({ id: 'Revision' });
export type Revision = z.infer<typeof Revision>;

/** A row that a revision changed, with the columns of its table. */
const ChangedRow = z
  .strictObject({
    table: z.string(),
    key: z.string(),
    before: z.unknown().meta({
      description: 'the row before the change; null = it did not exist. Secrets are `***`',
      examples: [null],
    }),
    after: z
      .unknown()
      .meta({ description: 'the row after the change; null = deleted', examples: [{ id: 2, name: 'Kids' }] }),
  })
  .meta({ id: 'ChangedRow' });

export const RevisionDetail = Revision.extend({
  ip_address: z.string().nullable().meta({
    description: 'address of the client that sent the request; null unless the caller has the role admin',
  }),
  address: former(z.string().nullable(), 'ip_address'),
  changes: z
    .array(ChangedRow)
    .nullable()
    .meta({ description: 'the changed rows; null if the audit log no longer contains the change' }),
  left_out: z.int().min(0).meta({ description: 'number of changed rows that are not shown' }),
}).meta({ id: 'RevisionDetail' });
export type RevisionDetail = z.infer<typeof RevisionDetail>;

export const RollbackQuery = z.object({
  expected_head: optionalQueryInt(1, MAX_ID).meta({
    description:
      'id of the newest revision that the caller knows; 409 if users have made a newer one, which the ' +
      'rollback would also undo',
  }),
});

export const RevisionList = z.array(Revision);
