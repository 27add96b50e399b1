/**
 * Creates a self-signed certificate (RFC 5280) for the names and addresses of this machine, so that HTTPS works before
 * the administrator installs a certificate.
 */
import { generateKeyPair, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { addressFromText } from '../../../shared/net/ip.ts';
import { readPair } from './certificate-pair.ts';
import type { CertificatePair } from './certificate-pair.ts';
import {
  bitString,
  explicit,
  implicit,
  isTrue,
  octetString,
  oid,
  sequence,
  setOf,
  time,
  unsigned,
  utf8,
} from './der.ts';
import type { Der } from './der.ts';

/** Maximum validity that Apple's clients accept in a server certificate. */
const DAYS = 825;
const DAY_MS = 86_400_000;
/** The certificate becomes valid this much earlier, so that clients whose clock is slow accept it. */
const EARLIER_MS = DAY_MS;
/** Maximum number of names and addresses in a certificate; a container host has hundreds. */
const MAX_NAMES = 100;
/** Maximum length of a common name (RFC 5280, ub-common-name). */
const MAX_COMMON_NAME = 64;

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const DNS_NAME = 2;
const IP_ADDRESS = 7;

/** A new key and a certificate for these names and addresses; the first name is its subject. */
export async function makeSelfSigned(names: readonly string[], nowMs: number): Promise<CertificatePair> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const notBefore = new Date(nowMs - EARLIER_MS);
  const notAfter = new Date(notBefore.getTime() + DAYS * DAY_MS);
  const signed = sequence(
    explicit(0, unsigned(Buffer.of(2))), // Version 3.
    unsigned(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ECDSA_WITH_SHA256,
    subjectOf(names),
    sequence(time(notBefore), time(notAfter)),
    subjectOf(names),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, extensionsFor(names)),
  );
  const certificate = sequence(signed, ECDSA_WITH_SHA256, bitString(sign('sha256', signed, privateKey)));
  return readPair(pem(certificate), privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

/** Every name and address by which this machine may be reached, `given` first. Zones and unusual names are omitted. */
export function namesOfMachine(given: readonly string[]): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const reachable = addresses.map(({ address }) => address).filter((address) => !/^fe80:/i.test(address));
  const names = given.map((name) => name.toLowerCase().replace(/\.$/, '')).filter(isHostName);
  return [...new Set([...names, 'localhost', '127.0.0.1', '::1', ...reachable])].slice(0, MAX_NAMES);
}

function isHostName(name: string): boolean {
  return (
    name.length <= 253 && /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(name) && isIP(name) === 0
  );
}

/** CN=name, O=Weir. Clients read names only from the extension. */
function subjectOf([first = 'localhost']: readonly string[]): Der {
  const attribute = (type: string, value: string): Der => setOf(sequence(oid(type), utf8(value)));
  const commonName = first.length <= MAX_COMMON_NAME ? first : 'localhost';
  return sequence(attribute('2.5.4.3', commonName), attribute('2.5.4.10', 'Weir'));
}

function extensionsFor(names: readonly string[]): Der {
  const critical = (id: string, value: Der): Der => sequence(oid(id), isTrue(), octetString(value));
  const other = (id: string, value: Der): Der => sequence(oid(id), octetString(value));
  return sequence(
    critical('2.5.29.19', sequence()), // Basic constraints: not a certificate authority.
    critical('2.5.29.15', bitString(Buffer.of(0x80), 7)), // Key usage: signatures.
    other('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'))), // Extended key usage: servers.
    other('2.5.29.17', sequence(...names.map(alternativeName))),
  );
}

function alternativeName(name: string): Der {
  return isIP(name) === 0 ? implicit(DNS_NAME, Buffer.from(name)) : implicit(IP_ADDRESS, octetsOf(name));
}

/** Four bytes for IPv4, sixteen for IPv6. */
function octetsOf(address: string): Uint8Array {
  const octets = addressFromText(address)!;
  return isIP(address) === 4 ? octets.subarray(12) : octets;
}

function pem(certificate: Der): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g)!;
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
