/** Upstream servers as blocky writes them: `[net:]host[:port][/path][#name]`, or a URL. Pure. */
import { isIP } from 'node:net';
import { readServer, type ReadUpstream, readUpstream } from '../plan/upstream-text.ts';

const SCHEMES: Readonly<Record<string, string>> = {
  'tcp+udp': '',
  udp: '',
  tcp: 'tcp://',
  'tcp-tls': 'tls://',
  https: 'https://',
};

/** Reads an upstream server. */
export function readBlockyUpstream(written: string): ReadUpstream {
  const text = written.trim();
  if (text.includes('://')) return readUpstream(text);
  const [, net = 'tcp+udp', rest = ''] =
    /^(?:(tcp\+udp|udp|tcp|tcp-tls|https|quic):)?(.*)$/s.exec(text) ?? [];
  if (net === 'quic') return readServer('quic://');
  const [place = '', name] = rest.split('#');
  const [, host = '', port = '', path = ''] =
    /^(\[[^\]]*\]|[^/:]*(?::[^/]*:[^/]*)?)(:\d+)?(\/.*)?$/.exec(place) ?? [];
  const scheme = SCHEMES[net]!;
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const version = isIP(address);
  const bracketed = version === 6 ? `[${address}]` : address;
  // In Weir's notation, the name that the certificate must have precedes the address.
  if (name !== undefined && version > 0 && /^(?:tls|https)/.test(scheme))
    return readServer(`${scheme}${name}${port}@${bracketed}${path}`);
  if (scheme === '' && version === 0 && host !== '') return readUpstream(`udp://${host}${port}`);
  return readUpstream(`${scheme}${bracketed}${port}${path}`);
}
