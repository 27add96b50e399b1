/** Requests and responses of `{api}/audit-log`. */
import { z } from 'zod';
import {
  ENGLISH_CHANGES,
  type ActionCode,
  type SubjectCode,
  type WordCode,
} from '../policy/changes/change-codes.ts';
import { former, MAX_ID, optionalQueryInt, Page, pageOf, Period, text, Timestamp } from './fields.ts';

/** Start or end of a period, a time with any UTC offset. */
const Moment = z.iso.datetime({ offset: true });

const ActionCodes = z.enum(Object.keys(ENGLISH_CHANGES.actions) as [ActionCode, ...ActionCode[]]);

/** Filters; all conditions must be met. */
export const AuditLogQuery = Page.extend({
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'expected the next_cursor of a page')
    .optional()
    .meta({
      description: 'next_cursor of a page, to get the page after it; replaces offset',
      examples: ['42'],
    }),
  author: text(200).min(1).optional().meta({ description: 'a user name, the name of a token, or `system`' }),
  actor: former(text(200).min(1).optional(), 'author'),
  action: text(200)
    .min(1)
    .optional()
    .meta({ description: 'text that the action must contain, such as `created`' }),
  action_code: ActionCodes.optional().meta({ description: 'code of the action of a change, as in `codes`' }),
  subject: text(500)
    .min(1)
    .optional()
    .meta({ description: 'text that the changed object must contain, such as `group Kids`' }),
  revision: optionalQueryInt(1, MAX_ID),
  period: Period.optional(),
  from: Moment.optional().meta({ description: 'start of the period, inclusive' }),
  to: Moment.optional().meta({ description: 'end of the period, exclusive' }),
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
  description:
    'values of the placeholders in the text of the code; a word that is translated is an object with a ' +
    'code and parameters',
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
    description:
      'the changed object and the action as codes with parameters, from which a client can write the ' +
      'texts in any language',
    examples: [
      {
        subject: { code: 'group', params: { name: 'Kids' } },
        action: { code: 'created', params: {} },
      },
    ],
  });

/** Example of changed rows: a created group. */
const EXAMPLE = { 'groups 2': { id: 2, name: 'Kids', enabled: true, comment: '' } };

/** One change. */
export const AuditLogEntry = z
  .strictObject({
    id: z.int().min(1),
    timestamp: Timestamp,
    author: z.string().meta({ description: 'a user name, the name of a token, or `system`' }),
    actor: former(z.string(), 'author'),
    ip_address: z.string().nullable().meta({
      description: 'address of the client that sent the request; null if Weir itself made the change',
    }),
    address: former(z.string().nullable(), 'ip_address'),
    action: z.string().meta({ description: 'the action, such as `created`' }),
    subject: z.string().meta({ description: 'the object that was changed, such as `group Kids`' }),
    codes: ChangeCodes.nullable().meta({ description: 'null if an earlier release wrote the entry' }),
    revision: z.int().min(1).nullable(),
    before: z.unknown().meta({
      description:
        'state before the change; null = did not exist. For policy: the changed rows, by table and key. ' +
        'Secrets are `***`',
    }),
    after: z.unknown().meta({
      description: 'state after the change, in the form of `before`; null = deleted',
      examples: [EXAMPLE],
    }),
    left_out: z.int().min(0).meta({ description: 'number of changed rows that are not shown' }),
  })
  .meta({ id: 'AuditLogEntry' });
export type AuditLogEntry = z.infer<typeof AuditLogEntry>;

export const AuditLogPage = pageOf(AuditLogEntry).meta({ id: 'AuditLogPage' });
export type AuditLogPage = z.infer<typeof AuditLogPage>;
