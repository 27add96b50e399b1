/** Requests and responses of `{api}/clients/{id}/phone-setup` and `/check/phone-profiles/{token}`. */
import { z } from 'zod';
import { Timestamp } from '../fields.ts';

/** Reasons why a phone cannot use one or both of the encrypted DNS protocols with its key. */
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
        description:
          'host name of this server for DNS over TLS, to enter as the Private DNS provider on Android; null = ' +
          'not available',
        examples: ['annas-phone.dns.example.org'],
      }),
    doh_url: z
      .string()
      .nullable()
      .meta({
        description: 'URL of this server for DNS over HTTPS; null = not available',
        examples: ['https://dns.example.org/dns-query/annas-phone'],
      }),
    problems: z
      .array(z.enum(SETUP_PROBLEMS))
      .meta({ description: 'reasons why phones cannot connect, or cannot use one of the two protocols' }),
    profile: z
      .strictObject({
        path: z.string().meta({
          description: 'path of the profile on the web port; anyone who has the path can read the profile',
        }),
        protocols: z.array(z.enum(PROFILE_PROTOCOLS)),
        is_signed: z
          .boolean()
          .meta({ description: 'whether the profile is signed with the key of the certificate' }),
        expires_at: Timestamp,
      })
      .nullable()
      .meta({ description: 'configuration profile for Apple devices; null = not available' }),
    first_seen: Timestamp.nullable().meta({
      description: 'time of the first query with the key of the client; null = none so far',
    }),
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
    .meta({ description: 'protocol that the profile configures; by default HTTPS if both are available' }),
});
