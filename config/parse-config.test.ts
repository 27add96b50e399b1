import { describe, expect, test } from '@jest/globals';
import { formatFault } from './config-fault.ts';
import { parseConfig } from './parse-config.ts';
import type { LoadedConfig } from './parse-config.ts';

/** The errors of an invalid configuration, as formatted messages. */
function faults(text: string, env: Record<string, string> = {}): string[] {
  const result = parseConfig({ file: { name: 'weir.toml', text }, env });
  return result.ok ? [] : result.faults.map(formatFault);
}

/** Parses a valid configuration; errors fail the test. */
function good(text: string, env: Record<string, string> = {}): LoadedConfig {
  const result = parseConfig({ file: { name: 'weir.toml', text }, env });
  if (!result.ok) throw new Error(result.faults.map(formatFault).join('\n'));
  return result.value;
}

describe('parseConfig() with valid input', () => {
  test('gives every key a value for an empty file', () => {
    const { config, explicit } = good('');
    expect(config.server.web_port).toBe(8080);
    expect(config.server.dns_port).toBe(53);
    expect(config.auth.admin).toEqual({ username: 'admin', password_hash: '' });
    expect(config.dns.rate_limit).toMatchObject({
      enabled: false,
      queries_per_second: 1000,
      burst_size: 500,
    });
    expect(config.cache.max_bytes).toBe(67_108_864);
    expect(explicit.size).toBe(0);
  });

  test('returns the same configuration for no file and for an empty file', () => {
    const none = parseConfig({ file: undefined, env: {} });
    expect(none).toEqual({ ok: true, value: { ...good(''), file: undefined } });
  });

  test('reports which keys were set, even to their default', () => {
    const { explicit } = good('[server]\ndns_port = 53\n[server.web_tls]\nenabled = false\n', {
      WEIR_CACHE_ENABLED: 'true',
    });
    expect([...explicit].sort()).toEqual(['cache.enabled', 'server.dns_port', 'server.web_tls.enabled']);
  });

  test('reads dotted keys, inline tables and quoted keys as equivalent', () => {
    const written = [
      '[server.web_tls]\nenabled = true',
      'server.web_tls.enabled = true',
      'server = { web_tls = { enabled = true } }',
      '["server"."web_tls"]\n"enabled" = true',
    ];
    for (const text of written) {
      expect(good(text).config.server.web_tls.enabled).toBe(true);
      expect([...good(text).explicit]).toEqual(['server.web_tls.enabled']);
    }
  });

  test('accepts a byte order mark and Windows line ends', () => {
    expect(good('\uFEFF[server]\r\nweb_port = 81\r\n').config.server.web_port).toBe(81);
  });

  test('gives pools without a strategy the default strategy', () => {
    const text = `[dns]\ndefault_strategy = "Failover"
[[dns.pools]]\nname = "a"\nservers = ["192.0.2.1"]
[[dns.pools]]\nname = "b"\nstrategy = "Fastest"\npriority = 0\nservers = ["tls://dns.example.org@192.0.2.1"]`;
    expect(good(text).config.dns.pools).toEqual([
      { name: 'a', strategy: 'Failover', priority: 1, servers: ['192.0.2.1'] },
      { name: 'b', strategy: 'Fastest', priority: 0, servers: ['tls://dns.example.org@192.0.2.1'] },
    ]);
  });

  test('gives the built-in pools the default strategy, and does not report them as set', () => {
    const { config, explicit } = good('[dns]\ndefault_strategy = "Failover"');
    expect(config.dns.pools.map(({ strategy }) => strategy)).toEqual(['Failover', 'Failover']);
    expect([...explicit]).toEqual(['dns.default_strategy']);
  });

  test('uses the folder "lists" of the data directory as the default of list_dirs', () => {
    expect(good('[server]\ndata_dir = "/srv/weir"').config.blocking.list_dirs).toEqual(['/srv/weir/lists']);
  });

  test('reads one database URL or several', () => {
    expect(good('').config.database.url).toEqual([]);
    expect(good('[database]\nurl = ""').config.database.url).toEqual([]);
    const both = ['postgres://a@192.0.2.1/weir', 'postgresql://a@192.0.2.2/weir'];
    expect(good(`[database]\nurl = "${both.join(' ')}"`).config.database.url).toEqual(both);
    expect(good(`[database]\nurl = ${JSON.stringify(both)}`).config.database.url).toEqual(both);
  });

  test('freezes the whole configuration', () => {
    const { config } = good('');
    expect(Object.isFrozen(config.dns.pools[0]?.servers)).toBe(true);
    expect(Object.isFrozen(config.server.web_tls)).toBe(true);
  });
});

describe('parseConfig() with keys that limit each other', () => {
  const POOL = 'name = "a"\nservers = ["192.0.2.1"]';
  test.each([
    [
      '[cache]\nmin_ttl_secs = 100\nmax_ttl_secs = 99',
      'weir.toml:2: cache.min_ttl_secs: expected at most cache.max_ttl_secs (99), got 100',
    ],
    [
      '[server]\nweb_port = 53',
      'weir.toml:2: server.web_port: expected a port other than that of server.dns_port, got 53',
    ],
    [
      '[server.encrypted_dns]\ndot_enabled = true\ndot_port = 8080',
      'weir.toml:3: server.encrypted_dns.dot_port: expected a port other than that of server.web_port, got 8080',
    ],
    [
      '[blocking]\nmode = "custom_ip"',
      'weir.toml:2: blocking.mode: expected an address in blocking.custom_ipv4 or custom_ipv6 with this mode, got "custom_ip"',
    ],
    [
      '[server.encrypted_dns]\ndoh_enabled = true\ndoh_port = 53',
      'weir.toml:3: server.encrypted_dns.doh_port: expected a port other than that of server.dns_port, got 53',
    ],
    [
      '[server.encrypted_dns]\ntls_cert_path = "/c.pem"',
      'weir.toml:2: server.encrypted_dns.tls_cert_path: expected a certificate and a key, or neither, got "/c.pem"',
    ],
    [
      `[[dns.pools]]\n${POOL}\n[[dns.pools]]\n${POOL}`,
      'weir.toml:5: dns.pools[1].name: expected a name that differs from those of other pools, got "a"',
    ],
  ])('refuses %j', (text, expected) => {
    expect(faults(text)).toEqual([expected]);
  });

  test('accepts a dot_port that equals web_port if DoT is disabled', () => {
    expect(good('[server.encrypted_dns]\ndot_port = 8080').config.server.encrypted_dns.dot_port).toBe(8080);
  });
});

describe('parseConfig() with environment variables', () => {
  test('prefers a variable to the file', () => {
    const text = '[server]\nweb_port = 81\nnode_name = "a"';
    const { config } = good(text, {
      WEIR_SERVER_WEB_PORT: '82',
      WEIR_DNS_RATE_LIMIT_ENABLED: 'TRUE',
      WEIR_DNS_RATE_LIMIT_WHITELIST: '10.0.0.0/8, 2001:db8::/32',
      WEIR_SERVER_BIND_ADDRESS: '["127.0.0.1"]',
      WEIR_AUTH_ADMIN_USERNAME: 'root',
      WEIR_DNS_POOLS: '[{"name": "a", "servers": ["192.0.2.1"]}]',
    });
    expect(config.server).toMatchObject({ web_port: 82, node_name: 'a', bind_address: ['127.0.0.1'] });
    expect(config.dns.rate_limit).toMatchObject({
      enabled: true,
      whitelist: ['10.0.0.0/8', '2001:db8::/32'],
    });
    expect(config.auth.admin.username).toBe('root');
    expect(config.dns.pools).toEqual([
      { name: 'a', strategy: 'Parallel', priority: 1, servers: ['192.0.2.1'] },
    ]);
  });

  test('reads an empty variable as an empty list or string', () => {
    const { config, explicit } = good('[server]\nnode_name = "a"\ntrusted_proxies = ["10.0.0.0/8"]', {
      WEIR_SERVER_NODE_NAME: '',
      WEIR_SERVER_TRUSTED_PROXIES: '',
    });
    expect(config.server).toMatchObject({ node_name: '', trusted_proxies: [] });
    expect(explicit.has('server.node_name')).toBe(true);
  });

  test.each([
    ['WEIR_SERVER_WEB_PORT', 'http', 'expected a whole number from 0 to 65535, got "http"'],
    ['WEIR_SERVER_WEB_PORT', '', 'expected a whole number from 0 to 65535, got ""'],
    ['WEIR_SERVER_WEB_PORT', '0x50', 'expected a whole number from 0 to 65535, got "0x50"'],
    ['WEIR_CACHE_ENABLED', 'maybe', 'expected true or false, got "maybe"'],
    ['WEIR_DNS_POOLS', 'udp://192.0.2.1', 'expected at least one table, got "udp://192.0.2.1"'],
    ['WEIR_SERVER_BIND_ADDRESS', '["::"', 'expected a list of at least 1 string, got "[\\"::\\""'],
    ['WEIR_SERVER_WEBPORT', '80', 'no such key; variables are WEIR_<SECTION>_<KEY>'],
  ])('refuses %s=%s', (name, value, expected) => {
    expect(faults('', { [name]: value })).toEqual([`environment: ${name}: ${expected}`]);
  });

  test('names the variable and the entry if an entry of a list is invalid', () => {
    expect(faults('', { WEIR_SERVER_TRUSTED_PROXIES: '10.0.0.0/8,nonsense' })).toEqual([
      'environment: WEIR_SERVER_TRUSTED_PROXIES[1]: expected a network such as 10.0.0.0/8 or 2001:db8::/32, got "nonsense"',
    ]);
  });

  test('names the variable whose value contradicts another key', () => {
    expect(faults('', { WEIR_SERVER_WEB_PORT: '53' })).toEqual([
      'environment: WEIR_SERVER_WEB_PORT: expected a port other than that of server.dns_port, got 53',
    ]);
  });

  test('reports the faults of the file and of the environment together', () => {
    expect(faults('[cache]\nenabled = 3', { WEIR_SERVER_WEB_PORT: 'x' })).toEqual([
      'weir.toml:2: cache.enabled: expected true or false, got 3',
      'environment: WEIR_SERVER_WEB_PORT: expected a whole number from 0 to 65535, got "x"',
    ]);
  });

  test('ignores the variables of other programs', () => {
    const others = {
      PATH: '/bin',
      WEIR_CONFIG: 'weir.toml',
      WEIR_BENCH: '1',
      WEIR_DNS_SERVICE_HOST: '192.0.2.1',
      WEIR_DNS_PORT_53_UDP_ADDR: '192.0.2.1',
    };
    expect(good('', others).explicit.size).toBe(0);
  });
});
