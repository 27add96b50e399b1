/** Requests and responses of `{api}/queries/clears`. */
import { z } from 'zod';
import { Id, Timestamp } from '../fields.ts';

const Count = z.int().min(0);
const Moment = z.iso.datetime({ offset: true });

/** Rows that a clear removes; `{}` selects all rows. */
export const QueryLogClearBody = z.strictObject({
  client_id: Id.optional().meta({
    description: 'only rows of this client of `/clients`: the rows that `GET /queries?client_id=` returns',
  }),
  from: Moment.optional().meta({
    description: 'start of the period, inclusive; by default the time of the first row',
  }),
  to: Moment.optional().meta({
    description: 'end of the period, exclusive; the default and the maximum is the current time',
  }),
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
    client_id: Id.nullable().meta({
      description: 'id of the client whose rows are removed; null = all clients',
    }),
    client_name: z
      .string()
      .nullable()
      .meta({ description: 'name of the client when the deletion was requested' }),
    state: z.enum(['running', 'done']).meta({
      description:
        'progress of the deletion, which continues even if the node restarts or loses its database connection',
    }),
    progress: z.number().min(0).max(1),
    rows: Count.meta({
      description: 'number of rows removed so far, including rows that were stored after the request',
    }),
    first_row_at: Timestamp.nullable().meta({ description: 'time of the oldest removed row' }),
    last_row_at: Timestamp.nullable(),
    done_at: Timestamp.nullable(),
  })
  .meta({ id: 'QueryLogClear' });
export type QueryLogClear = z.infer<typeof QueryLogClear>;

/** The newest clears, newest first. */
export const QueryLogClears = z.array(QueryLogClear).meta({ id: 'QueryLogClears' });
