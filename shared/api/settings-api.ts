/** Requests and answers of `{api}/settings`: how names of the local network are looked up. */
import { z } from 'zod';
import { canonicalDomain } from '../policy/domain-rule.ts';
import { text } from './fields.ts';

const LocalDomain = text(1020)
  .transform((value, context) => {
    const domain = value.trim() === '' ? '' : canonicalDomain(value);
    if (domain !== null) return domain;
    context.addIssue('expected a domain name such as home.arpa, or the empty text');
    return z.NEVER;
  })
  .meta({ description: 'asked from local_dns_server; may have private addresses; empty = none' });

/** The route checks its form. */
const LocalDnsServer = text(300)
  .transform((value) => value.trim())
  .meta({
    description: 'host:port; asked for local_domain and the reverse zones of private addresses; empty = none',
    examples: ['192.0.2.1:53'],
  });

export const DnsSettings = z
  .strictObject({
    never_forward_non_fqdn: z.boolean(),
    never_forward_reverse_lookups: z.boolean(),
    local_domain: z.string(),
    local_dns_server: z.string(),
  })
  .meta({ id: 'DnsSettings' });
export type DnsSettings = z.infer<typeof DnsSettings>;

/** Absent fields keep their value. */
export const DnsSettingsBody = z
  .strictObject({
    never_forward_non_fqdn: z.boolean().optional(),
    never_forward_reverse_lookups: z.boolean().optional(),
    local_domain: LocalDomain.optional(),
    local_dns_server: LocalDnsServer.optional(),
  })
  .meta({ id: 'DnsSettingsUpdate' });
export type DnsSettingsChange = z.output<typeof DnsSettingsBody>;
