/** Converts upstream servers from the notation of other programs to that of Weir's configuration. Pure. */
import {
  type ImportReason,
  importReason,
  joinReasons,
} from '../../../../shared/policy/reasons/import-reasons.ts';
import { isIP } from 'node:net';
import { parseUpstream } from '../../../../config/upstream-url.ts';
import { lacksScope } from '../../../../config/value-checks.ts';
import { shownUrl } from '../../../../shared/net/shown-url.ts';
import { addressFromText } from '../../../../shared/net/ip.ts';

/** A server in Weir's form, possibly with a comment; or the reason why Weir cannot use it. */
export type ReadUpstream =
  | { readonly server: string; readonly remark: ImportReason | null }
  | { readonly server: null; readonly reason: ImportReason };

const STAMP_PROTOCOLS: Readonly<Record<number, 'udp' | 'https' | 'tls'>> = { 0: 'udp', 2: 'https', 3: 'tls' };
const LOOPBACK = importReason('own_address');

/** `address#port` as in dnsmasq and Pi-hole, or any URL that AdGuard Home and Pi-hole support. */
export function readUpstream(written: string): ReadUpstream {
  const text = written.trim();
  if (text.includes('://') && shownUrl(text) !== text)
    return { server: null, reason: importReason('server_secret') };
  return readServer(text);
}

/** Reads a text composed by an importer: in such a text, `name@address` pins an address and is not a user name. */
export function readServer(text: string): ReadUpstream {
  const scheme = /^([a-z0-9+]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'sdns') return readStamp(text.slice('sdns://'.length));
  if (scheme === 'quic') return { server: null, reason: importReason('no_quic') };
  if (scheme === 'h3') return checked(text.replace(/^h3/i, 'https'), importReason('http2'));
  if (scheme !== undefined) return checked(text.replace(/\/$/, ''), null);
  const [host = '', port] = text.split('#');
  if (port === undefined) return checked(text, null);
  return checked(isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`, null);
}

function checked(server: string, remark: ImportReason | null): ReadUpstream {
  const read = parseUpstream(server);
  if (read === undefined) return { server: null, reason: importReason('server_form') };
  if (lacksScope(read.pinnedIp ?? read.host)) return { server: null, reason: importReason('link_local') };
  const address = addressFromText(read.host);
  const isLoopback =
    read.host === 'localhost' || (address !== null && (address[12] === 127 || read.host === '::1'));
  const remarks = [remark, isLoopback ? LOOPBACK : null].filter((part) => part !== null);
  return { server, remark: remarks.length === 0 ? null : joinReasons(...remarks) };
}

/** DNS stamps (dnscrypt.info/stamps-specifications): one byte of protocol, eight of properties, then fields. */
function readStamp(encoded: string): ReadUpstream {
  const bytes = Buffer.from(encoded, 'base64url');
  const protocol = STAMP_PROTOCOLS[bytes[0] ?? -1];
  if (protocol === undefined) return { server: null, reason: importReason('stamp_protocol') };
  const fields = stampFields(bytes, protocol);
  if (fields === null) return { server: null, reason: importReason('stamp_damaged') };
  const { address, host, path } = fields;
  const pinned = /^\[?([0-9a-f.:]+?)\]?(?::(\d+))?$/i.exec(address);
  const ip = pinned !== null && isIP(pinned[1]!) > 0 ? pinned[1]! : '';
  const bracketed = isIP(ip) === 6 ? `[${ip}]` : ip;
  if (protocol === 'udp') return checked(address, null);
  const pin = ip === '' || isIP(host) > 0 ? '' : `@${bracketed}`;
  const remark = importReason('certificate_pins');
  return checked(`${protocol}://${host === '' ? bracketed : host}${pin}${path}`, remark);
}

function stampFields(
  bytes: Buffer,
  protocol: 'udp' | 'https' | 'tls',
): { address: string; host: string; path: string } | null {
  let at = 9;
  const next = (): { text: string; goesOn: boolean } => {
    const length = bytes[at] ?? 0;
    const end = at + 1 + (length & 0x7f);
    const text = bytes.toString('latin1', at + 1, end);
    at = end;
    return { text, goesOn: length >= 0x80 };
  };
  const address = next().text;
  if (protocol !== 'udp') while (at < bytes.length && next().goesOn);
  const host = protocol === 'udp' ? '' : next().text;
  const path = protocol === 'https' ? next().text : '';
  return at > bytes.length || /[^\x21-\x7e]/.test(address + host + path) ? null : { address, host, path };
}
