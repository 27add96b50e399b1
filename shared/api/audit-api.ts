/** Requests and answers of `{api}/audit-log`. */
import { z } from 'zod';
import {
  ENGLISH_CHANGES,
  type ActionCode,
  type SubjectCode,
  type WordCode,
} from '../policy/changes/change-codes.ts';
import { former, MAX_ID, optionalQueryInt, Page, pageOf, Period, text, Timestamp } from './fields.ts';

/** Start or end of a period, with any offset. */
const Moment = z.iso.datetime({ offset: true });

const ActionCodes = z.enum(Object.keys(ENGLISH_CHANGES.actions) as [ActionCode, ...ActionCode[]]);

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
  action_code: ActionCodes.optional().meta({ description: 'code of the action in `codes`' }),
  subject: text(500).min(1).optional().meta({ description: 'part of the target' }),
  revision: optionalQueryInt(1, MAX_ID),
  period: Period.optional(),
  from: Moment.optional().meta({ description: 'inclusive' }),
  to: Moment.optional().meta({ description: 'exclusive' }),
});
export type AuditLogQuery = z.output<typeof AuditLogQuery>;

const Value = z.union([z.string(), z.number()]);
const Word = z
  .strictObject({
    code: z.enum(Object.keys(ENGLISH_CHANGES.words) as [WordCode, ...WordCode[]]),
    params: z.record(z.string(), Value),
  })
  .meta({ id: 'ChangeWord', examples: [{ code: 'everyone', params: {} }] });
const Params = z.record(z.string(), z.union([Value, Word, z.array(Word)])).meta({
  description: 'values of the placeholders; a word that is translated is itself a code with parameters',
  examples: [{ name: 'Kids' }],
});

/** Subject and action of a change. */
export const ChangeCodes = z
  .strictObject({
    subject: z.strictObject({
      code: z.enum(Object.keys(ENGLISH_CHANGES.subjects) as [SubjectCode, ...SubjectCode[]]),
      params: Params,
    }),
    action: z.strictObject({ code: ActionCodes, params: Params }),
  })
  .meta({
    id: 'ChangeCodes',
    description: 'subject and action in codes with parameters, for texts in other languages',
    examples: [
      {
        subject: { code: 'group', params: { name: 'Kids' } },
        action: { code: 'created', params: {} },
      },
    ],
  });

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
    codes: ChangeCodes.nullable().meta({ description: 'null if an earlier release wrote the entry' }),
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
