/** Signs a message with the key of a certificate, as CMS SignedData (RFC 5652) that contains the message. */
import { createHash, createPrivateKey, sign, X509Certificate } from 'node:crypto';
import {
  elementsOf,
  explicit,
  nothing,
  octetString,
  oid,
  sequence,
  setOf,
  sorted,
  time,
  unsigned,
} from '../tls/der.ts';
import type { Der } from '../tls/der.ts';

const Oid = {
  DATA: '1.2.840.113549.1.7.1',
  SIGNED_DATA: '1.2.840.113549.1.7.2',
  CONTENT_TYPE: '1.2.840.113549.1.9.3',
  MESSAGE_DIGEST: '1.2.840.113549.1.9.4',
  SIGNING_TIME: '1.2.840.113549.1.9.5',
  SHA256: '2.16.840.1.101.3.4.2.1',
  RSA: '1.2.840.113549.1.1.1',
  ECDSA_WITH_SHA256: '1.2.840.10045.4.3.2',
} as const;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** Positions of serial number and issuer among the fields of a certificate (RFC 5280 section 4.1). */
const [SERIAL_AT, ISSUER_AT] = [1, 3];

/** Whether `signMessage()` can use a key of this type (`CertificateFacts.keyType`). */
export function canSign(keyType: string): boolean {
  return /^(?:RSA|EC) /.test(keyType);
}

/** A signed message in DER with the chain of certificates. */
export function signMessage(
  message: Buffer,
  { cert, key }: { readonly cert: string; readonly key: string },
  nowMs: number,
): Buffer {
  const chain = (cert.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem).raw);
  const signer = createPrivateKey(key);
  const digest = createHash('sha256').update(message).digest();
  const attributes = [
    attribute(Oid.CONTENT_TYPE, oid(Oid.DATA)),
    attribute(Oid.SIGNING_TIME, time(new Date(nowMs))),
    attribute(Oid.MESSAGE_DIGEST, octetString(digest)),
  ];
  const signerInfo = sequence(
    unsigned(Buffer.of(1)),
    issuerAndSerial(chain[0]!),
    sequence(oid(Oid.SHA256)),
    explicit(0, ...sorted(attributes)),
    signer.asymmetricKeyType === 'ec'
      ? sequence(oid(Oid.ECDSA_WITH_SHA256))
      : sequence(oid(Oid.RSA), nothing()),
    octetString(sign('sha256', setOf(...attributes), signer)),
  );
  const signedData = sequence(
    unsigned(Buffer.of(1)),
    setOf(sequence(oid(Oid.SHA256))),
    sequence(oid(Oid.DATA), explicit(0, octetString(message))),
    explicit(0, ...sorted(chain)),
    setOf(signerInfo),
  );
  return sequence(oid(Oid.SIGNED_DATA), explicit(0, signedData));
}

function attribute(type: string, value: Der): Der {
  return sequence(oid(type), setOf(value));
}

/** The name of the issuer and the serial number, as the certificate encodes them. */
function issuerAndSerial(certificate: Der): Der {
  const [signed] = elementsOf(certificate);
  const parts = elementsOf(signed!);
  return sequence(parts[ISSUER_AT]!, parts[SERIAL_AT]!);
}
