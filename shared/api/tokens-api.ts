/** Requests and responses of `{api}/api-tokens`. */
import { z } from 'zod';
import { TokenRole } from './auth-api.ts';
import { Id, identity, Timestamp } from './fields.ts';
import { estimatedBits, MIN_KEY_BITS } from './key-entropy.ts';

const TOKEN = {
  id: Id,
  name: z.string(),
  prefix: z.string().meta({ description: 'first characters of the key of the token' }),
  role: TokenRole,
  created_at: Timestamp,
  last_used_at: Timestamp.nullable().meta({
    description: 'when the token was last used, up to a minute out of date; null = never',
  }),
};

export const ApiToken = z.strictObject(TOKEN).meta({ id: 'ApiToken' });
export type ApiToken = z.infer<typeof ApiToken>;
export const ApiTokenList = z.array(ApiToken);

export const CreatedToken = z
  .strictObject({
    ...TOKEN,
    key: z.string().meta({
      description: 'key to send as X-Api-Key or Authorization: Bearer; contained only in this response',
    }),
  })
  .meta({ id: 'CreatedApiToken' });

export type CreatedToken = z.infer<typeof CreatedToken>;

const Name = identity(100)
  .min(1)
  .refine((value) => value === value.trim(), 'expected no spaces at the start or end');

export const TokenCreateBody = z
  .strictObject({
    name: Name,
    role: TokenRole.default('admin').meta({
      description: 'role of the token; a viewer can read everything except secrets',
    }),
  })
  .meta({ id: 'ApiTokenCreate' });
export type TokenCreate = z.output<typeof TokenCreateBody>;

const ImportedKey = z
  .string()
  .regex(/^[\x21-\x7e]{20,256}$/, 'expected 20 to 256 printable ASCII characters without spaces')
  .refine(
    (key) => estimatedBits(key) >= MIN_KEY_BITS,
    'expected a random key, without repetitions and sequences',
  )
  .meta({
    description:
      'a key that programs already use; it must be random, without words, repetitions and sequences',
  });

/** Absent fields keep their value. */
export const TokenUpdateBody = z
  .strictObject({ name: Name.optional(), role: TokenRole.optional(), key: ImportedKey.optional() })
  .meta({ id: 'ApiTokenUpdate' });
export type TokenUpdate = z.output<typeof TokenUpdateBody>;
