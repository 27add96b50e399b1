/**
 * Schema of the whole configuration: the keys of `sections.ts`, defaults that depend on other keys, and rules that
 * concern several keys. Rules are checked only if each key is valid by itself, so that one mistake causes only one
 * message.
 */
import type { z } from 'zod';
import { databaseFaults } from '../shared/net/postgres-url.ts';
import { acmeFaults } from './rules/acme-rules.ts';
import { keys } from './sections.ts';

type Keys = z.output<typeof keys>;

/** A valid configuration, complete and frozen. */
export const schema = keys.superRefine(checkRules).transform((values) => {
  const { server, dns, blocking } = values;
  const pools = dns.pools.map((pool) => ({ ...pool, strategy: pool.strategy ?? dns.default_strategy }));
  const list_dirs = blocking.list_dirs.map((dir) => dir.replace(/^<data_dir>/u, server.data_dir));
  return freeze({ ...values, dns: { ...dns, pools }, blocking: { ...blocking, list_dirs } });
});

/** Values of the whole configuration; its keys are those of the TOML file. */
export type Config = z.output<typeof schema>;

type Context = z.core.$RefinementCtx<Keys>;

function checkRules(values: Keys, context: Context): void {
  checkPorts(values, context);
  checkCompanions(values, context);
  const { cache, dns, database } = values;
  for (const { key, expected } of databaseFaults(database))
    refuse(context, ['database', key], expected, '***');
  if (cache.min_ttl_secs > cache.max_ttl_secs)
    refuse(
      context,
      ['cache', 'min_ttl_secs'],
      `at most cache.max_ttl_secs (${cache.max_ttl_secs})`,
      cache.min_ttl_secs,
    );
  const { acme } = values.server;
  for (const { key, expected } of acmeFaults(acme))
    refuse(context, ['server', 'acme', key], expected, acme[key]);
  dns.pools.forEach(({ name }, index) => {
    if (dns.pools.findIndex((other) => other.name === name) < index)
      refuse(context, ['dns', 'pools', index, 'name'], 'a name that differs from those of other pools', name);
  });
}

/** Checks that ports differ, because DNS, encrypted DNS and the web server all listen on TCP at the same addresses. */
function checkPorts({ server }: Keys, context: Context): void {
  const taken = new Map([[server.dns_port, 'server.dns_port']]);
  const claim = (path: string[], port: number): void => {
    const owner = taken.get(port);
    if (owner !== undefined) refuse(context, path, `a port other than that of ${owner}`, port);
    else if (port !== 0) taken.set(port, path.join('.'));
  };
  claim(['server', 'web_port'], server.web_port);
  const tls = server.encrypted_dns;
  if (tls.dot_enabled) claim(['server', 'encrypted_dns', 'dot_port'], tls.dot_port);
  if (tls.doh_enabled) claim(['server', 'encrypted_dns', 'doh_port'], tls.doh_port);
}

/** Checks for keys that have no effect unless another key is set. */
function checkCompanions({ server, blocking, auth }: Keys, context: Context): void {
  for (const name of ['issuer', 'client_id'] as const)
    if (auth.oidc.enabled && auth.oidc[name] === '')
      refuse(context, ['auth', 'oidc', 'enabled'], `a value of auth.oidc.${name} with it`, true);
  if (auth.oidc.client_secret !== '' && auth.oidc.client_secret_file !== '')
    refuse(context, ['auth', 'oidc', 'client_secret_file'], 'this, or auth.oidc.client_secret', '***');
  if (blocking.mode === 'custom_ip' && blocking.custom_ipv4 === '' && blocking.custom_ipv6 === '')
    refuse(
      context,
      ['blocking', 'mode'],
      'an address in blocking.custom_ipv4 or custom_ipv6 with this mode',
      'custom_ip',
    );
  const { tls_cert_path: cert, tls_key_path: key } = server.encrypted_dns;
  if ((cert === '') !== (key === ''))
    refuse(
      context,
      ['server', 'encrypted_dns', 'tls_cert_path'],
      'a certificate and a key, or neither',
      cert,
    );
}

function refuse(context: Context, path: PropertyKey[], message: string, input: unknown): void {
  context.addIssue({ code: 'custom', path, message, input });
}

type Frozen<T> = { readonly [P in keyof T]: Frozen<T[P]> };

function freeze<T>(value: T): Frozen<T> {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
