/** Requests and answers of `{api}/clients/{id}/phone-setup` and `/check/phone-profiles/{token}`. */
import { z } from 'zod';
import { Timestamp } from '../fields.ts';

/** Reasons why a phone cannot use encrypted DNS with its key, or can use it only partly. */
export const SETUP_PROBLEMS = [
  'encrypted_dns_disabled',
  'no_certificate',
  'certificate_expired',
  'self_signed',
  'no_wildcard_name',
  'no_host_name',
  'dot_port_not_853',
  'key_not_random',
] as const;

/** Protocols of a configuration profile. */
export const PROFILE_PROTOCOLS = ['https', 'tls'] as const;

export const PhoneSetup = z
  .strictObject({
    client_key: z.string(),
    private_dns_name: z
      .string()
      .nullable()
      .meta({
        description: 'host name of the server for DNS over TLS, as for Private DNS on Android; null = none',
        examples: ['annas-phone.dns.example.org'],
      }),
    doh_url: z
      .string()
      .nullable()
      .meta({
        description: 'URL for DNS over HTTPS; null = none',
        examples: ['https://dns.example.org/dns-query/annas-phone'],
      }),
    problems: z
      .array(z.enum(SETUP_PROBLEMS))
      .meta({ description: 'reasons why phones cannot connect, or cannot use one of the protocols' }),
    profile: z
      .strictObject({
        path: z.string().meta({
          description: 'path of the profile on the web port; anyone who has it can read the profile',
        }),
        protocols: z.array(z.enum(PROFILE_PROTOCOLS)),
        is_signed: z.boolean().meta({ description: 'signed with the key of the certificate' }),
        expires_at: Timestamp,
      })
      .nullable()
      .meta({ description: 'configuration profile for Apple devices; null = none' }),
    first_seen: Timestamp.nullable().meta({ description: 'first query with this key; null = none so far' }),
    last_seen: Timestamp.nullable(),
  })
  .meta({ id: 'PhoneSetup' });
export type PhoneSetup = z.infer<typeof PhoneSetup>;

export const PhoneProfileParams = z.strictObject({
  token: z
    .string()
    .max(200)
    .meta({ description: 'token in `profile.path` of the phone setup', examples: ['AAAAAQ'] }),
});

export const PhoneProfileQuery = z.strictObject({
  protocol: z
    .enum(PROFILE_PROTOCOLS)
    .optional()
    .meta({ description: 'protocol of the profile; by default HTTPS if both are available' }),
});
