/** Request and response of `{api}/clients/clear`. */
import { z } from 'zod';

const Moment = z.iso.datetime({ offset: true });
const Count = z.int().min(0);

/** Clients that a clear deletes; `{}` selects all clients that no user has named or configured. */
export const ClientClearBody = z.strictObject({
  from: Moment.optional().meta({ description: 'only clients last seen at this time or later' }),
  to: Moment.optional().meta({ description: 'only clients last seen before this time' }),
  dry_run: z
    .boolean()
    .default(false)
    .meta({ description: 'deletes nothing; `left` is the number of clients that would be deleted' }),
});
export type ClientClearBody = z.output<typeof ClientClearBody>;

/** Numbers of deleted and remaining clients. */
export const ClientsCleared = z
  .strictObject({
    deleted: Count,
    left: Count.meta({
      description:
        'clients of the period without a name, group, key, exclusion or grant that are still stored',
    }),
    kept: Count.meta({
      description: 'clients seen in the period that have a name, group, key, exclusion or grant',
    }),
  })
  .meta({ id: 'ClientsCleared' });
export type ClientsCleared = z.infer<typeof ClientsCleared>;
