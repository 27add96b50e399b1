/** Requests and answers of `{api}/grants`: what one client or one group may, or may not, ask until a moment. */
import { z } from 'zod';
import { canonicalDomain } from '../../policy/domain-rule.ts';
import { Id, text, Timestamp } from '../fields.ts';

/** A day. */
const MAX_SECS = 86_400;
/** A year. */
export const MAX_UNTIL_MS = 31_536_000_000;

const Domain = text(1020).transform((value, context) => {
  const domain = canonicalDomain(value);
  if (domain !== null) return domain;
  context.addIssue('expected a domain name; it covers the names below as well');
  return z.NEVER;
});

export const Grant = z
  .strictObject({
    id: Id,
    domain: z.string().nullable().meta({ description: 'that name and all names below; null = every name' }),
    client_id: Id.nullable(),
    group_id: Id.nullable(),
    action: z.enum(['allow', 'block']),
    until: Timestamp.meta({ description: 'when it ends' }),
    secs_left: z.int().min(0),
    created_at: Timestamp,
  })
  .meta({ id: 'Grant' });
export type Grant = z.infer<typeof Grant>;

export const GrantList = z.array(Grant);

/** One of two fields. */
function exactlyOne(one: string, other: string, given: number): { path: string[]; message: string } | null {
  if (given === 1) return null;
  return { path: [one], message: `expected either ${one} or ${other}` };
}

export const GrantCreateBody = z
  .strictObject({
    domain: Domain.nullable()
      .default(null)
      .meta({ description: 'that name and all names below; null = every name' }),
    client_id: Id.nullable()
      .default(null)
      .meta({ examples: [null] }),
    group_id: Id.nullable().default(null),
    secs: z.int().min(1).max(MAX_SECS).nullable().default(null).meta({ description: 'how long it holds' }),
    until: z.iso
      .datetime({ offset: true })
      .nullable()
      .default(null)
      .meta({ description: 'when it ends, within a year', examples: [null] }),
    action: z.enum(['allow', 'block']).default('allow'),
  })
  .superRefine((body, context) => {
    const given = (...values: unknown[]): number => values.filter((value) => value !== null).length;
    for (const fault of [
      exactlyOne('client_id', 'group_id', given(body.client_id, body.group_id)),
      exactlyOne('secs', 'until', given(body.secs, body.until)),
    ])
      if (fault !== null) context.addIssue({ code: 'custom', ...fault });
  })
  .meta({ id: 'GrantCreate' });
export type GrantCreate = z.output<typeof GrantCreateBody>;
