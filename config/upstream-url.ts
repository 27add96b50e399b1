/**
 * Parses the notations of upstream servers and the configured pools. The DNS threads resolve the names of servers and
 * query them.
 */
import { isIP } from 'node:net';
import type { PoolSettings, UpstreamSettings } from '../shared/policy/upstream-settings.ts';
import { isHostName, serverForm, splitHostPort } from './value-checks.ts';

const PORTS = { udp: 53, tcp: 53, tls: 853, https: 443 } as const;
const EXPECTED =
  'an upstream server such as 192.0.2.53, udp://192.0.2.53:53, tcp://192.0.2.53, ' +
  'tls://dns.example.org@192.0.2.53 or https://dns.example.org/dns-query';

/**
 * Parses the text of an upstream server; undefined if it is not `udp://host[:port]`, `tcp://host[:port]`,
 * `tls://host[:port][@ip]`, `https://host[:port][@ip][/path]`, or a bare address with or without a port (UDP). `@ip` is
 * the address of the host, so that no lookup is needed; the port may also follow the address, as in `@ip:port`.
 */
export function parseUpstream(address: string): UpstreamSettings | undefined {
  const match = /^(?:(udp|tcp|tls|https):\/\/)?([^/?#\s]+)([/?][^#\s]*)?$/iu.exec(address);
  if (match === null) return undefined;
  const [, scheme, authority = '', path] = match;
  const transport = (scheme?.toLowerCase() ?? 'udp') as keyof typeof PORTS;
  if (path !== undefined && transport !== 'https') return undefined;

  const [server = '', pinnedIp, ...rest] = authority.split('@');
  const split = splitHostPort(server);
  const encrypted = transport === 'tls' || transport === 'https';
  if (split === undefined || rest.length > 0) return undefined;
  if (isIP(split.host) === 0 && (scheme === undefined || !isHostName(split.host))) return undefined;
  const pin = pinnedIp === undefined ? undefined : splitHostPort(pinnedIp);
  if (pinnedIp !== undefined) {
    if (!encrypted || isIP(pin?.host ?? '') === 0 || isIP(split.host) > 0) return undefined;
    if (split.port !== undefined && pin?.port !== undefined) return undefined;
  }

  return {
    address,
    transport,
    host: split.host,
    port: split.port ?? pin?.port ?? PORTS[transport],
    ...(pin === undefined ? {} : { pinnedIp: pin.host }),
    ...(transport === 'https' ? { path: path ?? '/dns-query' } : {}),
  };
}

/** Schema of the text of an upstream server. */
export const upstream = serverForm(EXPECTED, (value) => {
  const parsed = parseUpstream(value);
  return parsed?.pinnedIp ?? parsed?.host;
});

/** A configured pool, with servers as text. */
type WrittenPool = Omit<PoolSettings, 'servers'> & { readonly servers: readonly string[] };

/** The pools of a valid configuration (`dns.pools`), with parsed servers, in the order in which they are used. */
export function poolsOf(pools: readonly WrittenPool[]): readonly PoolSettings[] {
  return pools
    .map((pool) => ({ ...pool, servers: pool.servers.flatMap((server) => parseUpstream(server) ?? []) }))
    .sort((left, right) => left.priority - right.priority);
}
