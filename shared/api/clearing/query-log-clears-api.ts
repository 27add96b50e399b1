/** Requests and answers of `{api}/queries/clears`. */
import { z } from 'zod';
import { Id, Timestamp } from '../fields.ts';

const Count = z.int().min(0);
const Moment = z.iso.datetime({ offset: true });

/** Rows that a clear removes; `{}` selects all rows. */
export const QueryLogClearBody = z.strictObject({
  client_id: Id.optional().meta({
    description: 'only rows of this client of `/clients`: those that `GET /queries?client_id=` returns',
  }),
  from: Moment.optional().meta({ description: 'inclusive; by default the first row' }),
  to: Moment.optional().meta({ description: 'exclusive; by default and at most the current time' }),
});
export type QueryLogClearBody = z.output<typeof QueryLogClearBody>;

/** A removal of rows from the query log. */
export const QueryLogClear = z
  .strictObject({
    id: Id,
    created_at: Timestamp,
    created_by: z.string(),
    from: Timestamp.nullable(),
    to: Timestamp,
    client_id: Id.nullable().meta({ description: 'null = all clients' }),
    client_name: z.string().nullable().meta({ description: 'its name at that time' }),
    state: z.enum(['running', 'done']).meta({
      description: 'running clears continue, even after a restart or a loss of the database',
    }),
    progress: z.number().min(0).max(1),
    rows: Count.meta({ description: 'removed so far, including rows that arrived later' }),
    first_row_at: Timestamp.nullable().meta({ description: 'the oldest removed row' }),
    last_row_at: Timestamp.nullable(),
    done_at: Timestamp.nullable(),
  })
  .meta({ id: 'QueryLogClear' });
export type QueryLogClear = z.infer<typeof QueryLogClear>;

/** The newest clears, newest first. */
export const QueryLogClears = z.array(QueryLogClear).meta({ id: 'QueryLogClears' });
