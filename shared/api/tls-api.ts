/** Requests and answers of `{api}/tls/*`. */
import { z } from 'zod';
import { Timestamp } from './fields.ts';

export const TlsStatus = z
  .strictObject({
    enabled: z.boolean().meta({ description: 'the web port uses HTTPS (server.web_tls.enabled)' }),
    exists: z.boolean().meta({ description: 'both files exist, certificate and key' }),
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
    .meta({ description: 'also if there is already a valid certificate' }),
});
