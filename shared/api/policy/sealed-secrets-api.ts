/** The encrypted secrets inside a backup: AES-256-GCM under a key that scrypt (RFC 7914) derives from a passphrase. */
import { z } from 'zod';

/** A passphrase that a new backup is encrypted with. */
export const Passphrase = z
  .string()
  .min(12, 'expected at least 12 characters')
  .max(1024, 'expected at most 1024 characters');

/** Base64 of `count` bytes. */
const bytes = (count: number): z.ZodString =>
  z
    .string()
    .length(4 * Math.ceil(count / 3))
    .regex(/^[A-Za-z0-9+/]+={0,2}$/, `expected ${String(count)} bytes in Base64`);

/** The limits keep a hostile file from using more than 64 MiB of memory and a second of one core. */
const Scrypt = z.strictObject({
  name: z.literal('scrypt'),
  n: z
    .literal([1 << 14, 1 << 15, 1 << 16])
    .meta({ description: 'cost parameter N of scrypt', examples: [1 << 15] }),
  r: z.literal(8),
  p: z.int().min(1).max(4),
  salt: bytes(16),
});

/** The envelope. */
export const SealedSecrets = z
  .strictObject({
    version: z.literal(1, 'made by a newer version of Weir'),
    kdf: Scrypt,
    cipher: z.literal('aes-256-gcm'),
    nonce: bytes(12),
    tag: bytes(16),
    data: z.base64().max(32 << 20),
  })
  .meta({
    id: 'SealedSecrets',
    description: 'secrets of the backup, encrypted with a passphrase',
    examples: [
      {
        version: 1,
        kdf: { name: 'scrypt', n: 1 << 15, r: 8, p: 3, salt: 'c2FsdHNhbHRzYWx0c2FsdA==' },
        cipher: 'aes-256-gcm',
        nonce: 'bm9uY2Vub25jZW5v',
        tag: 'dGFndGFndGFndGFndGFndA==',
        data: 'ZGF0YQ==',
      },
    ],
  });
export type SealedSecrets = z.infer<typeof SealedSecrets>;
