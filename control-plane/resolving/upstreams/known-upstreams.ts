/**
 * Public resolvers that users may choose, as described by their operators. Data only: none of these servers is queried
 * before a user chooses it. Addresses after `@` are published by the operators, so that no other resolver is needed to
 * look up the host names. Compared in November 2026 with the directories of AdGuard and of the DNSCrypt project. No
 * longer listed: dns0.eu (discontinued in October 2025) and Mullvad (discontinued on 2 November 2026).
 */
import type { KnownUpstream } from '../../../shared/api/upstreams-api.ts';

type Operator = Pick<KnownUpstream, 'operator' | 'country' | 'logging' | 'page'>;
type Variant = Omit<KnownUpstream, keyof Operator | 'validates'> & Partial<Pick<KnownUpstream, 'validates'>>;

const of =
  (operator: Operator) =>
  (variant: Variant): KnownUpstream => ({ ...operator, validates: true, ...variant });

const quad9 = of({
  operator: 'Quad9',
  country: 'CH',
  logging: 'none',
  page: 'https://quad9.net/privacy/policy/',
});
const cloudflare = of({
  operator: 'Cloudflare',
  country: 'US',
  logging: 'anonymous',
  page: 'https://developers.cloudflare.com/1.1.1.1/privacy/public-dns-resolver/',
});
const google = of({
  operator: 'Google',
  country: 'US',
  logging: 'temporary',
  page: 'https://developers.google.com/speed/public-dns/privacy',
});
const adguard = of({
  operator: 'AdGuard',
  country: 'CY',
  logging: 'anonymous',
  page: 'https://adguard-dns.io/en/privacy.html',
});
const dns4eu = of({
  operator: 'DNS4EU',
  country: 'CZ',
  logging: 'anonymous',
  page: 'https://www.joindns4.eu/for-public',
});
const openDns = of({
  operator: 'OpenDNS (Cisco)',
  country: 'US',
  logging: 'stored',
  page: 'https://www.opendns.com/',
});
const cleanBrowsing = of({
  operator: 'CleanBrowsing',
  country: 'US',
  logging: 'unknown',
  page: 'https://cleanbrowsing.org/filters/',
});
const digitaleGesellschaft = of({
  operator: 'Digitale Gesellschaft',
  country: 'CH',
  logging: 'none',
  page: 'https://www.digitale-gesellschaft.ch/dns/',
});
const dnsForge = of({ operator: 'dnsforge', country: 'DE', logging: 'none', page: 'https://dnsforge.de/' });
const ffmuc = of({
  operator: 'Freifunk München',
  country: 'DE',
  logging: 'none',
  page: 'https://ffmuc.net/',
});
const dnsSb = of({ operator: 'DNS.SB', country: 'DE', logging: 'none', page: 'https://dns.sb/privacy/' });
const czNic = of({ operator: 'CZ.NIC', country: 'CZ', logging: 'none', page: 'https://www.nic.cz/odvr/' });
const wikimedia = of({
  operator: 'Wikimedia',
  country: 'US',
  logging: 'unknown',
  page: 'https://meta.wikimedia.org/wiki/Wikimedia_DNS',
});

/** The resolvers, in the order in which the dashboard offers them; variants of one operator follow each other. */
export const KNOWN_UPSTREAMS: readonly KnownUpstream[] = [
  quad9({
    variant: '',
    filters: ['malware'],
    udp: ['udp://9.9.9.9', 'udp://149.112.112.112'],
    tls: ['tls://dns.quad9.net@9.9.9.9', 'tls://dns.quad9.net@149.112.112.112'],
    https: ['https://dns.quad9.net@9.9.9.9/dns-query', 'https://dns.quad9.net@149.112.112.112/dns-query'],
  }),
  quad9({
    variant: 'Unsecured',
    filters: [],
    validates: false,
    udp: ['udp://9.9.9.10', 'udp://149.112.112.10'],
    tls: ['tls://dns10.quad9.net@9.9.9.10', 'tls://dns10.quad9.net@149.112.112.10'],
    https: ['https://dns10.quad9.net@9.9.9.10/dns-query', 'https://dns10.quad9.net@149.112.112.10/dns-query'],
  }),
  cloudflare({
    variant: '',
    filters: [],
    udp: ['udp://1.1.1.1', 'udp://1.0.0.1'],
    tls: ['tls://one.one.one.one@1.1.1.1', 'tls://one.one.one.one@1.0.0.1'],
    https: ['https://cloudflare-dns.com@1.1.1.1/dns-query', 'https://cloudflare-dns.com@1.0.0.1/dns-query'],
  }),
  cloudflare({
    variant: 'Malware',
    filters: ['malware'],
    udp: ['udp://1.1.1.2', 'udp://1.0.0.2'],
    tls: ['tls://security.cloudflare-dns.com@1.1.1.2', 'tls://security.cloudflare-dns.com@1.0.0.2'],
    https: [
      'https://security.cloudflare-dns.com@1.1.1.2/dns-query',
      'https://security.cloudflare-dns.com@1.0.0.2/dns-query',
    ],
  }),
  cloudflare({
    variant: 'Family',
    filters: ['malware', 'adult'],
    udp: ['udp://1.1.1.3', 'udp://1.0.0.3'],
    tls: ['tls://family.cloudflare-dns.com@1.1.1.3', 'tls://family.cloudflare-dns.com@1.0.0.3'],
    https: [
      'https://family.cloudflare-dns.com@1.1.1.3/dns-query',
      'https://family.cloudflare-dns.com@1.0.0.3/dns-query',
    ],
  }),
  google({
    variant: '',
    filters: [],
    udp: ['udp://8.8.8.8', 'udp://8.8.4.4'],
    tls: ['tls://dns.google@8.8.8.8', 'tls://dns.google@8.8.4.4'],
    https: ['https://dns.google@8.8.8.8/dns-query', 'https://dns.google@8.8.4.4/dns-query'],
  }),
  dns4eu({
    variant: 'Protective',
    filters: ['malware'],
    udp: ['udp://86.54.11.1', 'udp://86.54.11.201'],
    tls: ['tls://protective.joindns4.eu@86.54.11.1', 'tls://protective.joindns4.eu@86.54.11.201'],
    https: [
      'https://protective.joindns4.eu@86.54.11.1/dns-query',
      'https://protective.joindns4.eu@86.54.11.201/dns-query',
    ],
  }),
  dns4eu({
    variant: 'Protective, ads',
    filters: ['malware', 'ads'],
    udp: ['udp://86.54.11.13', 'udp://86.54.11.213'],
    tls: ['tls://noads.joindns4.eu@86.54.11.13', 'tls://noads.joindns4.eu@86.54.11.213'],
    https: [
      'https://noads.joindns4.eu@86.54.11.13/dns-query',
      'https://noads.joindns4.eu@86.54.11.213/dns-query',
    ],
  }),
  dns4eu({
    variant: 'Protective, child protection',
    filters: ['malware', 'adult'],
    udp: ['udp://86.54.11.12', 'udp://86.54.11.212'],
    tls: ['tls://child.joindns4.eu@86.54.11.12', 'tls://child.joindns4.eu@86.54.11.212'],
    https: [
      'https://child.joindns4.eu@86.54.11.12/dns-query',
      'https://child.joindns4.eu@86.54.11.212/dns-query',
    ],
  }),
  dns4eu({
    variant: 'Unfiltered',
    filters: [],
    udp: ['udp://86.54.11.100', 'udp://86.54.11.200'],
    tls: ['tls://unfiltered.joindns4.eu@86.54.11.100', 'tls://unfiltered.joindns4.eu@86.54.11.200'],
    https: [
      'https://unfiltered.joindns4.eu@86.54.11.100/dns-query',
      'https://unfiltered.joindns4.eu@86.54.11.200/dns-query',
    ],
  }),
  adguard({
    variant: 'Default',
    filters: ['malware', 'ads'],
    udp: ['udp://94.140.14.14', 'udp://94.140.15.15'],
    tls: ['tls://dns.adguard-dns.com@94.140.14.14', 'tls://dns.adguard-dns.com@94.140.15.15'],
    https: [
      'https://dns.adguard-dns.com@94.140.14.14/dns-query',
      'https://dns.adguard-dns.com@94.140.15.15/dns-query',
    ],
  }),
  adguard({
    variant: 'Family',
    filters: ['malware', 'ads', 'adult'],
    udp: ['udp://94.140.14.15', 'udp://94.140.15.16'],
    tls: ['tls://family.adguard-dns.com@94.140.14.15', 'tls://family.adguard-dns.com@94.140.15.16'],
    https: [
      'https://family.adguard-dns.com@94.140.14.15/dns-query',
      'https://family.adguard-dns.com@94.140.15.16/dns-query',
    ],
  }),
  adguard({
    variant: 'Unfiltered',
    filters: [],
    udp: ['udp://94.140.14.140', 'udp://94.140.14.141'],
    tls: ['tls://unfiltered.adguard-dns.com@94.140.14.140', 'tls://unfiltered.adguard-dns.com@94.140.14.141'],
    https: [
      'https://unfiltered.adguard-dns.com@94.140.14.140/dns-query',
      'https://unfiltered.adguard-dns.com@94.140.14.141/dns-query',
    ],
  }),
  digitaleGesellschaft({
    variant: '',
    filters: [],
    udp: [],
    tls: [
      'tls://dns.digitale-gesellschaft.ch@185.95.218.42',
      'tls://dns.digitale-gesellschaft.ch@185.95.218.43',
    ],
    https: [
      'https://dns.digitale-gesellschaft.ch@185.95.218.42/dns-query',
      'https://dns.digitale-gesellschaft.ch@185.95.218.43/dns-query',
    ],
  }),
  dnsForge({
    variant: '',
    filters: ['malware', 'ads'],
    udp: ['udp://176.9.93.198', 'udp://176.9.1.117'],
    tls: ['tls://dnsforge.de@176.9.93.198', 'tls://dnsforge.de@176.9.1.117'],
    https: ['https://dnsforge.de@176.9.93.198/dns-query', 'https://dnsforge.de@176.9.1.117/dns-query'],
  }),
  ffmuc({
    variant: '',
    filters: [],
    udp: [],
    tls: ['tls://dot.ffmuc.net@5.1.66.255', 'tls://dot.ffmuc.net@185.150.99.255'],
    https: ['https://doh.ffmuc.net@5.1.66.255/dns-query', 'https://doh.ffmuc.net@185.150.99.255/dns-query'],
  }),
  dnsSb({
    variant: '',
    filters: [],
    udp: ['udp://185.222.222.222', 'udp://45.11.45.11'],
    tls: ['tls://dot.sb@185.222.222.222', 'tls://dot.sb@45.11.45.11'],
    https: ['https://doh.dns.sb/dns-query'],
  }),
  czNic({
    variant: '',
    filters: [],
    udp: ['udp://193.17.47.1', 'udp://185.43.135.1'],
    tls: ['tls://odvr.nic.cz@193.17.47.1', 'tls://odvr.nic.cz@185.43.135.1'],
    https: ['https://odvr.nic.cz@193.17.47.1/dns-query', 'https://odvr.nic.cz@185.43.135.1/dns-query'],
  }),
  wikimedia({
    variant: '',
    filters: [],
    udp: [],
    tls: ['tls://wikimedia-dns.org@185.71.138.138'],
    https: ['https://wikimedia-dns.org@185.71.138.138/dns-query'],
  }),
  openDns({
    variant: '',
    filters: ['malware'],
    udp: ['udp://208.67.222.222', 'udp://208.67.220.220'],
    tls: ['tls://dns.opendns.com@208.67.222.222', 'tls://dns.opendns.com@208.67.220.220'],
    https: ['https://doh.opendns.com/dns-query'],
  }),
  openDns({
    variant: 'FamilyShield',
    filters: ['malware', 'adult'],
    udp: ['udp://208.67.222.123', 'udp://208.67.220.123'],
    tls: ['tls://familyshield.opendns.com@208.67.222.123', 'tls://familyshield.opendns.com@208.67.220.123'],
    https: ['https://doh.familyshield.opendns.com/dns-query'],
  }),
  cleanBrowsing({
    variant: 'Security',
    filters: ['malware'],
    udp: ['udp://185.228.168.9', 'udp://185.228.169.9'],
    tls: [
      'tls://security-filter-dns.cleanbrowsing.org@185.228.168.9',
      'tls://security-filter-dns.cleanbrowsing.org@185.228.169.9',
    ],
    https: ['https://doh.cleanbrowsing.org/doh/security-filter/'],
  }),
  cleanBrowsing({
    variant: 'Family',
    filters: ['malware', 'adult'],
    udp: ['udp://185.228.168.168', 'udp://185.228.169.168'],
    tls: [
      'tls://family-filter-dns.cleanbrowsing.org@185.228.168.168',
      'tls://family-filter-dns.cleanbrowsing.org@185.228.169.168',
    ],
    https: ['https://doh.cleanbrowsing.org/doh/family-filter/'],
  }),
];
