/** Answers of `{api}/revisions`. */
import { z } from 'zod';
import { Id, Timestamp } from './fields.ts';

export const Revision = z
  .strictObject({
    id: Id.max(Number.MAX_SAFE_INTEGER),
    created_at: Timestamp,
    author: z.string().meta({ description: 'a user name, or `system`' }),
    summary: z.string(),
    can_rollback: z.boolean().meta({ description: 'whether the policy of then is still kept' }),
  })
  .meta({ id: 'Revision' });
export type Revision = z.infer<typeof Revision>;
export const RevisionList = z.array(Revision);
