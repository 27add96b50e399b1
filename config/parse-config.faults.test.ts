/** Invalid file contents, and the messages about them. */
import { describe, expect, test } from '@jest/globals';
import { formatFault } from './config-fault.ts';
import { parseConfig } from './parse-config.ts';

/** The errors of an invalid configuration, as formatted messages. */
function faults(text: string, env: Record<string, string> = {}): string[] {
  const result = parseConfig({ file: { name: 'weir.toml', text }, env });
  return result.ok ? [] : result.faults.map(formatFault);
}

describe('parseConfig() with an invalid file', () => {
  test.each([
    [
      'a string for a number',
      '[server]\nweb_port = "80"',
      ':2: server.web_port: expected a whole number from 0 to 65535, got "80"',
    ],
    [
      'a number that is too large',
      '[server]\n\nweb_port = 65536',
      ':3: server.web_port: expected a whole number from 0 to 65535, got 65536',
    ],
    [
      'a fraction',
      '[dns]\nquery_timeout_ms = 1.5',
      ':2: dns.query_timeout_ms: expected a whole number from 100 to 60000 (milliseconds), got 1.5',
    ],
    [
      'a number that is NaN',
      '[dns]\nquery_timeout_ms = nan',
      ':2: dns.query_timeout_ms: expected a whole number from 100 to 60000 (milliseconds), got NaN',
    ],
    [
      'an sslmode that does not protect',
      '[database]\nurl = "postgres://a@192.0.2.1/weir?sslmode=prefer"',
      ':2: database.url: expected sslmode to be one of disable, require, verify-ca, verify-full, got a value that is not shown',
    ],
    [
      'sslmode verify-full without a CA file',
      '[database]\nurl = "postgres://a@192.0.2.1/weir"\nsslmode = "verify-ca"',
      ':2: database.url: expected database.sslrootcert with sslmode verify-ca: any site can get a certificate from a public CA, got a value that is not shown',
    ],
    [
      'two passwords of a role',
      '[database]\nurl = "postgres://a:secret@192.0.2.1/weir"\npassword_file = "/run/password"',
      ':3: database.password_file: expected this, or a password in database.url, got "***"',
    ],
    ['a number for a boolean', '[cache]\nenabled = 1', ':2: cache.enabled: expected true or false, got 1'],
    [
      'a boolean for a string',
      '[server]\nnode_name = true',
      ':2: server.node_name: expected a name without control characters and invisible ones, got true',
    ],
    [
      'a date',
      '[server]\nnode_name = 2026-01-01T00:00:00Z',
      ':2: server.node_name: expected a name without control characters and invisible ones, got the date 2026-01-01T00:00:00.000Z',
    ],
    [
      'a string for a list',
      '[server]\nbind_address = "0.0.0.0"',
      ':2: server.bind_address: expected a list of at least 1 string, got "0.0.0.0"',
    ],
    [
      'an empty list for a required list',
      '[server]\nbind_address = []',
      ':2: server.bind_address: expected a list of at least 1 string, got an empty list',
    ],
    [
      'a bad address in a long list',
      '[server]\nbind_address = [\n  "0.0.0.0", # all\n  "300.0.0.1",\n]',
      ':2: server.bind_address[1]: expected an IP address such as 192.0.2.1, got "300.0.0.1"',
    ],
    [
      'a bad CIDR',
      '[dns.rate_limit]\nwhitelist = ["10.0.0.0/33"]',
      ':2: dns.rate_limit.whitelist[0]: expected a network such as 10.0.0.0/8 or 2001:db8::/32, got "10.0.0.0/33"',
    ],
    [
      'a choice that does not exist',
      '[logging]\nlevel = "trace"',
      ':2: logging.level: expected "error", "warn", "info" or "debug", got "trace"',
    ],
    [
      'an unknown key that is similar to a known one',
      '[server]\nweb_prot = 80',
      ':2: server.web_prot: no such key; did you mean web_port?',
    ],
    [
      'an unknown key of an inline table',
      'server = { web_tls = { on = true } }',
      ':1: server.web_tls.on: no such key; the keys are enabled, tls_cert_path, tls_key_path',
    ],
    [
      'an unknown section',
      'a = 1\n',
      ':1: a: no such key; the keys are server, database, dns, cache, blocking, logging, auth',
    ],
    [
      'a value where a section belongs',
      'server = 1',
      ':1: server: expected a table of settings ([server]), got 1',
    ],
    [
      'a date where a section belongs',
      'server = 2026-01-01T00:00:00Z',
      ':1: server: expected a table of settings ([server]), got "2026-01-01T00:00:00.000Z"',
    ],
    [
      'a list of tables where a section belongs',
      '[[server]]\nweb_port = 1',
      ':1: server: expected a table of settings ([server]), got a list of 1',
    ],
    [
      'a section where a value belongs',
      '[server.web_port]\na = 1',
      ':1: server.web_port: expected a whole number from 0 to 65535, got a table',
    ],
    [
      'a section given twice',
      '[server]\nweb_port = 1\n[dns]\n[server]\ndns_port = 1',
      ':4: server: duplicate key (first on line 1)',
    ],
    [
      'a key given twice',
      '[server]\nweb_port = 1\nweb_port = 2',
      ':3: server.web_port: duplicate key (first on line 2)',
    ],
    [
      'a string that does not end',
      '[server]\nnode_name = "a\n',
      ':2: syntax: expected valid TOML, got "\\n" at column 15',
    ],
    [
      'a list that does not end',
      '[server]\n\nbind_address = ["::",\n',
      ':4: syntax: expected valid TOML, got end of input at column 1',
    ],
    [
      'a line that is not TOML',
      '[server]\nweb_port: 80',
      ':2: syntax: expected valid TOML, got ":" at column 9',
    ],
    [
      'a number that JavaScript cannot hold',
      '[server]\nweb_port = 9007199254740993',
      ':2: syntax: Integer 9007199254740993 cannot be represented losslessly as a JavaScript number. Use the `bigint` option to parse integers as BigInt values. at column 12',
    ],
    ['no pools', '[dns]\npools = []', ':2: dns.pools: expected at least one table, got an empty list'],
    [
      'a pool that is not a table',
      '[dns]\npools = ["192.0.2.1"]',
      ':2: dns.pools[0]: expected a table of settings ([dns.pools[0]]), got "192.0.2.1"',
    ],
    [
      'a pool without servers',
      '[[dns.pools]]\nname = "a"',
      ':1: dns.pools[0].servers: expected a value (this key has no default)',
    ],
    [
      'a bad strategy in the second pool',
      '[[dns.pools]]\nname="a"\nservers=["192.0.2.1"]\n[[dns.pools]]\nname="b"\nservers=["192.0.2.1"]\nstrategy="Random"',
      ':7: dns.pools[1].strategy: expected "Parallel", "Failover", "Balanced" or "Fastest", got "Random"',
    ],
    [
      'an empty data directory',
      '[server]\ndata_dir = ""',
      ':2: server.data_dir: expected the path of a file or directory, got ""',
    ],
    [
      'an IPv6 address for IPv4',
      '[blocking]\ncustom_ipv4 = "::1"',
      ':2: blocking.custom_ipv4: expected an IPv4 address such as 192.0.2.1, or an empty string, got "::1"',
    ],
    [
      'a server without a host',
      '[dns]\nlocal_dns_server = ":53"',
      ':2: dns.local_dns_server: expected a server such as 192.0.2.1:53, or an empty string, got ":53"',
    ],
    [
      'a domain with a bad label',
      '[dns]\nrebinding_allowlist = ["a..example"]',
      ':2: dns.rebinding_allowlist[0]: expected a domain name such as home.arpa, got "a..example"',
    ],
    [
      'a bad catalog URL',
      '[blocking]\ncatalog_url = "ftp://example.org/"',
      ':2: blocking.catalog_url: expected a URL such as https://example.org/services.json, or an empty string, got "ftp://example.org/"',
    ],
    [
      'a named resolver for bootstrap',
      '[dns]\nbootstrap = ["dns.example.org"]',
      ':2: dns.bootstrap[0]: expected a resolver such as 192.0.2.53, 192.0.2.53:53 or [2001:db8::53]:53, got "dns.example.org"',
    ],
    [
      'a key of Object.prototype',
      '[server]\nconstructor = 1',
      ':2: server.constructor: no such key; the keys are web_port, alt_compat,',
    ],
    [
      'the key __proto__',
      '[server]\n__proto__ = 1',
      ':2: server.__proto__: no such key; the keys are web_port, alt_compat,',
    ],
  ])('refuses %s', (_what, text, expected) => {
    const found = faults(text);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`weir.toml${expected}`);
  });

  test('reports all faults of a file together, each with its line, in order', () => {
    const text = `# a file
[server]
web_port = "x"   # wrong
bogus = """
[cache]
enabled = 3
"""

[cache]
enabled = 3
[dns.health_check]
interval_secs = 0
`;
    expect(faults(text)).toEqual([
      'weir.toml:3: server.web_port: expected a whole number from 0 to 65535, got "x"',
      expect.stringMatching(/^weir\.toml:4: server\.bogus: no such key; the keys are web_port, /),
      'weir.toml:10: cache.enabled: expected true or false, got 3',
      'weir.toml:12: dns.health_check.interval_secs: expected a whole number from 1 to 3600 (seconds), got 0',
    ]);
  });

  test('never shows a password', () => {
    const reported = [
      ...faults('[database]\nurl = "mysql://weir:hunter2@db.example.org"'),
      ...faults('[database]\nurl = ["postgres://a@192.0.2.1/w", "hunter2"]'),
      ...faults('[auth.admin]\npassword_hash = "hunter2"'),
      ...faults('', { WEIR_DATABASE_URL: 'hunter2', WEIR_AUTH_ADMIN_PASSWORD_HASH: 'hunter2' }),
    ];
    expect(reported).toHaveLength(5);
    for (const line of reported)
      expect(line).toMatch(/expected (a URL|an Argon2id hash).+, got a value that is not shown$/);
  });
});
