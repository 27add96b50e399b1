import { describe, expect, test } from '@jest/globals';
import { readToml, readVersion5 } from './read-keys.ts';

describe('readToml()', () => {
  test('reads which clients Pi-hole answered', () => {
    const { keys } = readToml(Buffer.from('[dns]\nlisteningMode = "SINGLE"\ninterface = "eth0"\n'));
    expect(keys).toMatchObject({ listeningMode: 'SINGLE', networkInterface: 'eth0' });
    const vars = Buffer.from('DNSMASQ_LISTENING=all\nPIHOLE_INTERFACE=eth1\n');
    const old = readVersion5(new Map([['setupVars.conf', vars]]));
    expect(old).toMatchObject({ listeningMode: 'all', networkInterface: 'eth1' });
  });

  test('reads the domain name from the key of version 6.0', () => {
    const { keys, databases } = readToml(
      Buffer.from('[dns]\ndomain = "lan"\n[files]\ngravity = "/data/g.db"\n'),
    );
    expect([keys.localDomain, databases.gravity]).toEqual(['lan', '/data/g.db']);
  });

  test('treats values of a wrong type as missing', () => {
    const text =
      '[dns]\nupstreams = "192.0.2.1"\ndnssec = 1\nblockTTL = -1\nhosts = [true, "192.0.2.5 nas"]\n';
    const { keys } = readToml(Buffer.from(text));
    expect(keys).toMatchObject({ hosts: ['192.0.2.5 nas'] });
    expect([keys.upstreams, keys.dnssec, keys.blockTtl, keys.rateLimit]).toEqual(Array(4).fill(undefined));
  });

  test('refuses invalid or too large TOML', () => {
    expect(() => readToml(Buffer.from('[dns'))).toThrow('pihole.toml, line 1');
    expect(() => readToml(Buffer.alloc(2_000_000, 0x0a))).toThrow('too large');
  });
});

describe('readVersion5()', () => {
  test('reads the settings of several files, and no password', () => {
    const vars =
      'WEBPASSWORD=abc\nPIHOLE_DNS_1=192.0.2.1#53\nPIHOLE_DNS_2=192.0.2.2#53\nDNSSEC=false\nREV_SERVER=false\n';
    const keys = readVersion5(
      new Map([
        ['setupVars.conf', Buffer.from(vars)],
        ['pihole-FTL.conf', Buffer.from('# all\nBLOCK_TTL=5\nRATE_LIMIT=10/1\n')],
      ]),
    );
    expect(keys).toMatchObject({
      upstreams: ['192.0.2.1#53', '192.0.2.2#53'],
      dnssec: false,
      revServers: [],
      blockTtl: 5,
      rateLimit: { count: 10, interval: 1 },
    });
    expect(JSON.stringify(keys)).not.toContain('abc');
  });

  test('reads exclusions, hidden domains and the blocking answer of version 5', () => {
    const ftl =
      'PRIVACYLEVEL=2\nMAXDBDAYS=30\nBLOCK_IPV4=192.0.2.80\nMOZILLA_CANARY=false\nIGNORE_LOCALHOST=yes\n';
    const vars = 'API_EXCLUDE_DOMAINS=a.example,b.example\nAPI_EXCLUDE_CLIENTS=192.0.2.5\n';
    const files = new Map([
      ['setupVars.conf', Buffer.from(vars)],
      ['pihole-FTL.conf', Buffer.from(ftl)],
    ]);
    expect(readVersion5(files)).toMatchObject({
      privacyLevel: 2,
      logDays: 30,
      blockingIpv4: '192.0.2.80',
      specialDomains: { mozillaCanary: false },
      ignoresLocalhost: true,
      excludedDomains: ['^a\\.example$', '^b\\.example$'],
      excludedClients: ['^192\\.0\\.2\\.5$'],
    });
  });
});
