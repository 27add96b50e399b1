/** Requests and answers of `{api}/audit-log`. */
import { z } from 'zod';
import { former, MAX_ID, optionalQueryInt, Page, pageOf, Period, text, Timestamp } from './fields.ts';

/** Start or end of a period, with any offset. */
const Moment = z.iso.datetime({ offset: true });

/** Filters; all conditions must be met. */
export const AuditLogQuery = Page.extend({
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'expected the next_cursor of a page')
    .optional()
    .meta({ description: 'next_cursor of a page; replaces offset', examples: ['42'] }),
  author: text(200).min(1).optional().meta({ description: 'a user name, the name of a token, or `system`' }),
  actor: former(text(200).min(1).optional(), 'author'),
  action: text(200).min(1).optional().meta({ description: 'part of the action, such as `created`' }),
  subject: text(500).min(1).optional().meta({ description: 'part of the target' }),
  revision: optionalQueryInt(1, MAX_ID),
  period: Period.optional(),
  from: Moment.optional().meta({ description: 'inclusive' }),
  to: Moment.optional().meta({ description: 'exclusive' }),
});
export type AuditLogQuery = z.output<typeof AuditLogQuery>;

/** A created group. */
const EXAMPLE = { 'groups 2': { id: 2, name: 'Kids', enabled: true, comment: '' } };

/** One change. */
export const AuditLogEntry = z
  .strictObject({
    id: z.int().min(1),
    timestamp: Timestamp,
    author: z.string().meta({ description: 'a user name, the name of a token, or `system`' }),
    actor: former(z.string(), 'author'),
    ip_address: z.string().nullable().meta({ description: 'address of the client; null for Weir itself' }),
    address: former(z.string().nullable(), 'ip_address'),
    action: z.string().meta({ description: 'the action, such as `created`' }),
    subject: z.string().meta({ description: 'the target, such as `group Kids`' }),
    revision: z.int().min(1).nullable(),
    before: z.unknown().meta({
      description: 'null = did not exist; for policy the changed rows, by table and key; secrets are `***`',
    }),
    after: z
      .unknown()
      .meta({ description: 'the same, after the change; null = deleted', examples: [EXAMPLE] }),
    left_out: z.int().min(0).meta({ description: 'number of changed rows that are not shown' }),
  })
  .meta({ id: 'AuditLogEntry' });
export type AuditLogEntry = z.infer<typeof AuditLogEntry>;

export const AuditLogPage = pageOf(AuditLogEntry).meta({ id: 'AuditLogPage' });
export type AuditLogPage = z.infer<typeof AuditLogPage>;
