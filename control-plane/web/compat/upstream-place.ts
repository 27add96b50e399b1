/** The location of an upstream in the form of the compatibility API: address or name, and port. Pure. */

/** Address or name of a server, and its port. */
export interface UpstreamPlace {
  /** The host name, or the address if there is none. */
  readonly name: string;
  readonly ip: string;
  readonly port: number;
}

const PORTS: Readonly<Record<string, number>> = { udp: 53, tcp: 53, tls: 853, https: 443 };

/**
 * The location of a server, from its notation in the configuration: `tls://name@address`, `https://name/path`,
 * `address:port`.
 */
export function upstreamPlace(text: string): UpstreamPlace {
  const [, scheme = 'udp', rest = ''] = /^(?:(\w+):\/\/)?(.*)$/s.exec(text) ?? [];
  const [authority = ''] = rest.split('/');
  const [named = '', address = named] = authority.split('@');
  const host = hostAndPort(named);
  const at = hostAndPort(address);
  return { name: host.host, ip: at.host, port: host.port ?? at.port ?? PORTS[scheme] ?? 53 };
}

/** The server as written in the log. */
export function placeText({ ip, port }: UpstreamPlace): string {
  return `${ip}#${String(port)}`;
}

function hostAndPort(text: string): { host: string; port: number | undefined } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? text;
  return { host, port: port === undefined ? undefined : Number(port) };
}
