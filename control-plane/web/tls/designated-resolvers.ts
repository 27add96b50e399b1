/**
 * The encrypted resolvers that clients of plain DNS can discover (RFC 9462 section 4): this server, by the first name
 * in its certificate, which clients verify. SVCB records of RFC 9460 and RFC 9461.
 */
import { X509Certificate } from 'node:crypto';
import { DOH_PATH } from '../../../shared/dns/doh-target.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { addressFromText, isMappedIpv4 } from '../../../shared/net/ip.ts';

/** Keys of parameters (RFC 9460 section 14.3.2, RFC 9461 section 5), in the order in which they are written. */
const SvcParam = { ALPN: 1, PORT: 3, DOHPATH: 7 } as const;
const IP_PREFIX = 'IP Address:';
const DOT_PORT = 853;
const DOH_PORT = 443;

/** Ports of encrypted DNS; null = disabled. */
export interface EncryptedPorts {
  readonly dotPort: number | null;
  readonly dohPort: number | null;
}

/** RDATA of the records, in order of preference; empty if the certificate (PEM) contains no host name. */
export function designatedResolvers(certificate: string, { dotPort, dohPort }: EncryptedPorts): Uint8Array[] {
  const target = hostOf(certificate);
  if (target === null) return [];
  const ways = [
    ...(dohPort === null
      ? []
      : [{ alpn: ['h2'], port: dohPort, usual: DOH_PORT, path: `${DOH_PATH}{?dns}` }]),
    ...(dotPort === null ? [] : [{ alpn: ['dot'], port: dotPort, usual: DOT_PORT, path: null }]),
  ];
  return ways.map(({ alpn, port, usual, path }, i) =>
    Uint8Array.from([
      ...u16(i + 1),
      ...target,
      ...param(
        SvcParam.ALPN,
        alpn.flatMap((name) => [name.length, ...Buffer.from(name)]),
      ),
      ...(port === usual ? [] : param(SvcParam.PORT, u16(port))),
      ...(path === null ? [] : param(SvcParam.DOHPATH, [...Buffer.from(path)])),
    ]),
  );
}

/** The IP addresses in a certificate (PEM), 4 or 16 bytes each. */
export function certifiedAddresses(certificate: string): Uint8Array[] {
  const names = new X509Certificate(certificate).subjectAltName?.split(', ') ?? [];
  return names.flatMap((name) => {
    if (!name.startsWith(IP_PREFIX)) return [];
    const address = addressFromText(name.slice(IP_PREFIX.length));
    if (address === null) return [];
    return [isMappedIpv4(address) ? address.slice(12) : address];
  });
}

/** The first host name in the certificate that contains a dot and no wildcard, in wire form. */
function hostOf(certificate: string): Uint8Array | null {
  const names = new X509Certificate(certificate).subjectAltName?.split(', ') ?? [];
  for (const name of names) {
    if (!name.startsWith('DNS:') || !name.includes('.') || name.includes('*')) continue;
    const wire = nameFromText(name.slice('DNS:'.length));
    if (wire !== null) return wire;
  }
  return null;
}

function param(key: number, value: readonly number[]): number[] {
  return [...u16(key), ...u16(value.length), ...value];
}

function u16(value: number): number[] {
  return [value >>> 8, value & 0xff];
}
