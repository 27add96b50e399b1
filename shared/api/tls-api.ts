/** Requests and answers of `{api}/tls/*`. */
import { z } from 'zod';
import { Timestamp } from './fields.ts';

export const TlsStatus = z
  .strictObject({
    enabled: z.boolean().meta({ description: 'the web port uses HTTPS (server.web_tls.enabled)' }),
    exists: z.boolean().meta({ description: 'both the certificate file and the key file exist' }),
    valid: z
      .boolean()
      .meta({ description: 'a server can use them now: they match, and the certificate is valid now' }),
    fault: z
      .string()
      .nullable()
      .meta({
        description: 'reason why a server cannot use them; null if it can, or if a file is missing',
        examples: ['this key does not belong to the certificate'],
      }),
    subject: z.string().nullable(),
    issuer: z.string().nullable(),
    names: z.array(z.string()).meta({ description: 'names and addresses of the certificate' }),
    key_type: z
      .string()
      .nullable()
      .meta({ description: 'type of its key, with its size or curve', examples: ['EC P-256'] }),
    not_before: Timestamp.nullable(),
    expiration: Timestamp.nullable(),
    self_signed: z.boolean().nullable(),
  })
  .meta({ id: 'TlsStatus' });
export type TlsStatus = z.infer<typeof TlsStatus>;

/** Two files in PEM. */
export const TlsUploadForm = z
  .strictObject({
    cert: z
      .string()
      .meta({ description: "PEM: the server's own certificate, followed by those of its issuers" }),
    key: z.string().meta({ description: 'PEM: the private key of the certificate, without a passphrase' }),
  })
  .meta({ id: 'TlsUploadRequest' });

export const TlsGenerateQuery = z.strictObject({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'also replaces a valid certificate' }),
});

/** Steps of an order by ACME. */
export const ACME_STEPS = ['account', 'challenges', 'validation', 'certificate'] as const;

export const AcmeStatus = z
  .strictObject({
    names: z.array(z.string()).meta({ description: 'server.acme.names; empty = ACME is not set up' }),
    directory_url: z.string(),
    challenge: z.enum(['http-01', 'dns-01']),
    terms_agreed: z.boolean(),
    step: z
      .enum(ACME_STEPS)
      .nullable()
      .meta({ description: 'step of the order that this node has in progress; null = none' }),
    error: z.string().nullable().meta({ description: 'why the last order of this node failed' }),
    ended_at: Timestamp.nullable().meta({ description: 'end of the last order since the node started' }),
    next_order_at: Timestamp.nullable().meta({
      description:
        'next automatic order; null = none, because the certificate in use is not for these names or the terms are not agreed to',
    }),
  })
  .meta({ id: 'AcmeStatus' });
export type AcmeStatus = z.infer<typeof AcmeStatus>;
