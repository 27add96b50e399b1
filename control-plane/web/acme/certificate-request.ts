/** Certificate signing requests (RFC 2986) for names, with a new key. */
import { generateKeyPair, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { bitString, explicit, implicit, octetString, oid, sequence, setOf, unsigned } from '../tls/der.ts';

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ALTERNATIVE_NAMES = '2.5.29.17';
const DNS_NAME = 2;

/** A request with its key. */
export interface CertificateRequest {
  readonly der: Buffer;
  /** PEM, PKCS #8. Must not appear in any log, response or audit entry. */
  readonly key: string;
}

/** A request for these names, which are only in the extension for alternative names. */
export async function makeRequest(names: readonly string[]): Promise<CertificateRequest> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const alternatives = sequence(...names.map((name) => implicit(DNS_NAME, Buffer.from(name))));
  const extensions = sequence(sequence(oid(ALTERNATIVE_NAMES), octetString(alternatives)));
  const content = sequence(
    unsigned(Buffer.of(0)),
    sequence(),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(0, sequence(oid(EXTENSION_REQUEST), setOf(extensions))),
  );
  return {
    der: sequence(content, ECDSA_WITH_SHA256, bitString(sign('sha256', content, privateKey))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}
