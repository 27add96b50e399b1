/** Requests and responses of `{api}/tls/*`. */
import { z } from 'zod';
import { Timestamp } from './fields.ts';

export const TlsStatus = z
  .strictObject({
    enabled: z.boolean().meta({ description: 'whether the web port uses HTTPS (server.web_tls.enabled)' }),
    exists: z.boolean().meta({ description: 'whether both the certificate file and the key file exist' }),
    valid: z.boolean().meta({
      description:
        'whether a server can use the files now: the key belongs to the certificate, and the certificate is ' +
        'valid now',
    }),
    fault: z
      .string()
      .nullable()
      .meta({
        description: 'why a server cannot use the files; null if it can, or if a file is missing',
        examples: ['this key does not belong to the certificate'],
      }),
    subject: z.string().nullable(),
    issuer: z.string().nullable(),
    names: z
      .array(z.string())
      .meta({ description: 'names and addresses for which the certificate is valid' }),
    key_type: z
      .string()
      .nullable()
      .meta({ description: 'type of the key, with its size or curve', examples: ['EC P-256'] }),
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
      .meta({ description: 'certificates in PEM: that of the server, followed by those of its issuers' }),
    key: z.string().meta({ description: 'private key of the certificate in PEM, without a passphrase' }),
  })
  .meta({ id: 'TlsUploadRequest' });

export const TlsGenerateQuery = z.strictObject({
  force: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'also replaces a certificate that is still valid' }),
});

/** Steps of an order by ACME. */
export const ACME_STEPS = ['account', 'challenges', 'validation', 'certificate'] as const;

export const AcmeStatus = z
  .strictObject({
    names: z
      .array(z.string())
      .meta({ description: 'names of the certificate (server.acme.names); empty = ACME is not set up' }),
    directory_url: z.string(),
    challenge: z.enum(['http-01', 'dns-01']),
    terms_agreed: z.boolean(),
    step: z
      .enum(ACME_STEPS)
      .nullable()
      .meta({ description: 'step of the order that is in progress on this node; null = no order' }),
    error: z.string().nullable().meta({
      description: 'why the last order of this node failed; null = it succeeded, or there was none',
    }),
    ended_at: Timestamp.nullable().meta({
      description: 'when the last order since the start of the node ended',
    }),
    next_order_at: Timestamp.nullable().meta({
      description:
        'time of the next automatic order; null = none, because the certificate in use has other names or ' +
        'the terms of service were not accepted',
    }),
  })
  .meta({ id: 'AcmeStatus' });
export type AcmeStatus = z.infer<typeof AcmeStatus>;
