/**
 * The schema of the whole configuration: the keys of `sections.ts`, what they inherit from each other, and
 * the rules between them. Rules are asked once every key is right by itself, so that no message is the echo
 * of another fault.
 */
import type { z } from 'zod';
import { keys } from './sections.ts';

type Keys = z.output<typeof keys>;

/** A configuration that can work, complete and frozen. */
export const schema = keys.superRefine(checkRules).transform((values) => {
  const { server, dns, blocking } = values;
  const pools = dns.pools.map((pool) => ({ ...pool, strategy: pool.strategy ?? dns.default_strategy }));
  const list_dirs = blocking.list_dirs.map((dir) => dir.replace(/^<data_dir>/u, server.data_dir));
  return freeze({ ...values, dns: { ...dns, pools }, blocking: { ...blocking, list_dirs } });
});

/** The whole configuration, as values; its keys are those of the TOML file. */
export type Config = z.output<typeof schema>;

function checkRules({ server, dns, cache, blocking }: Keys, context: z.core.$RefinementCtx<Keys>): void {
  const refuse = (path: PropertyKey[], message: string, input: unknown): void =>
    context.addIssue({ code: 'custom', path, message, input });

  // DNS, DoT and the web all listen on TCP, on the same addresses.
  const taken = new Map([[server.dns_port, 'server.dns_port']]);
  const claim = (path: string[], port: number): void => {
    const owner = taken.get(port);
    if (owner !== undefined) refuse(path, `another port than ${owner}`, port);
    else if (port !== 0) taken.set(port, path.join('.'));
  };
  claim(['server', 'web_port'], server.web_port);
  const tls = server.encrypted_dns;
  if (tls.dot_enabled) claim(['server', 'encrypted_dns', 'dot_port'], tls.dot_port);

  if (cache.min_ttl_secs > cache.max_ttl_secs)
    refuse(
      ['cache', 'min_ttl_secs'],
      `at most cache.max_ttl_secs (${cache.max_ttl_secs})`,
      cache.min_ttl_secs,
    );
  if (blocking.mode === 'custom_ip' && blocking.custom_ipv4 === '' && blocking.custom_ipv6 === '')
    refuse(
      ['blocking', 'mode'],
      'an address in blocking.custom_ipv4 or custom_ipv6 with this mode',
      'custom_ip',
    );
  if (server.proxy_protocol_enabled && server.proxy_protocol_trusted.length === 0)
    refuse(
      ['server', 'proxy_protocol_enabled'],
      'the load balancer in server.proxy_protocol_trusted; otherwise no client can connect',
      true,
    );
  if ((tls.tls_cert_path === '') !== (tls.tls_key_path === ''))
    refuse(
      ['server', 'encrypted_dns', 'tls_cert_path'],
      'a certificate and a key, or neither',
      tls.tls_cert_path,
    );
  dns.pools.forEach(({ name }, index) => {
    if (dns.pools.findIndex((other) => other.name === name) < index)
      refuse(['dns', 'pools', index, 'name'], 'a name that no other pool has', name);
  });
}

type Frozen<T> = { readonly [P in keyof T]: Frozen<T[P]> };

function freeze<T>(value: T): Frozen<T> {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
