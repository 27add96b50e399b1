/** Answers of `{api}/revisions`. */
import { z } from 'zod';
import { Timestamp } from './fields.ts';

export const Revision = z
  .strictObject({
    id: z.int().min(1),
    created_at: Timestamp,
    author: z.string().meta({ description: 'a user name, or `system`' }),
    summary: z.string(),
    can_rollback: z.boolean().meta({ description: 'whether the policy of then is still kept' }),
  })
  .meta({ id: 'Revision' });
export type Revision = z.infer<typeof Revision>;
export const RevisionList = z.array(Revision);
