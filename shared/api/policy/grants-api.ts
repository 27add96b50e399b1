/**
 * Requests and responses of `{api}/grants`: rules that allow or block names for a client, a group or everyone for a
 * limited time.
 */
import { z } from 'zod';
import { canonicalDomain } from '../../policy/domain-rule.ts';
import { Id, text, Timestamp } from '../fields.ts';
import { ServiceId } from './services-api.ts';

/** A day. */
const MAX_SECS = 86_400;
/** A year. */
export const MAX_UNTIL_MS = 31_536_000_000;

/** A domain that a grant covers, in canonical form. */
export const GrantedDomain = text(1020).transform((value, context) => {
  const domain = canonicalDomain(value);
  if (domain !== null) return domain;
  context.addIssue('expected a domain name; it also covers its subdomains');
  return z.NEVER;
});

export const Grant = z
  .strictObject({
    id: Id,
    domain: z.string().nullable().meta({
      description: 'domain of the grant; null = every name, or all names of the service',
    }),
    service_id: z.string().nullable().meta({ description: 'id of the service whose names the grant covers' }),
    service_name: z
      .string()
      .nullable()
      .meta({ description: 'null = no service, or one that no longer exists' }),
    subdomains: z.boolean().meta({ description: 'whether the grant also covers subdomains of `domain`' }),
    client_id: Id.nullable(),
    group_id: Id.nullable().meta({
      description: 'group of the grant; the grant is for everyone if both this and `client_id` are null',
    }),
    action: z.enum(['allow', 'block']),
    until: Timestamp.nullable().meta({ description: 'when the grant ends; null = not until it is deleted' }),
    secs_left: z.int().min(0).nullable().meta({ description: 'seconds until the end; null = no end' }),
    created_at: Timestamp,
  })
  .meta({ id: 'Grant' });
export type Grant = z.infer<typeof Grant>;

export const GrantList = z.array(Grant);

/** The error if two mutually exclusive fields both have a value. */
function atMostOne(one: string, other: string, values: readonly [unknown, unknown]): FieldProblem | null {
  if (values.includes(null)) return null;
  return { path: [one], message: `expected either ${one} or ${other}, or neither` };
}
interface FieldProblem {
  readonly path: string[];
  readonly message: string;
}

export const GrantCreateBody = z
  .strictObject({
    domain: GrantedDomain.nullable().default(null).meta({
      description: 'domain of the grant; null = every name, or all names of the service',
    }),
    service_id: ServiceId.nullable()
      .default(null)
      .meta({
        description: 'id of a service to cover, instead of `domain`',
        examples: [null],
      }),
    subdomains: z
      .boolean()
      .default(true)
      .meta({ description: 'whether the grant also covers subdomains of `domain`' }),
    client_id: Id.nullable()
      .default(null)
      .meta({
        description: 'client of the grant; if `group_id` is also null, it is for everyone',
        examples: [null],
      }),
    group_id: Id.nullable().default(null),
    secs: z.int().min(1).max(MAX_SECS).nullable().default(null).meta({
      description: 'seconds until the end; without `secs` and `until` the grant lasts until it is deleted',
    }),
    until: z.iso
      .datetime({ offset: true })
      .nullable()
      .default(null)
      .meta({ description: 'when the grant ends, within a year', examples: [null] }),
    action: z.enum(['allow', 'block']).default('allow'),
  })
  .superRefine((body, context) => {
    for (const fault of [
      atMostOne('client_id', 'group_id', [body.client_id, body.group_id]),
      atMostOne('domain', 'service_id', [body.domain, body.service_id]),
      atMostOne('secs', 'until', [body.secs, body.until]),
    ])
      if (fault !== null) context.addIssue({ code: 'custom', ...fault });
  })
  .meta({ id: 'GrantCreate' });
export type GrantCreate = z.output<typeof GrantCreateBody>;
