/** The configuration of encrypted DNS, for tests with their own certificate. */
import type { TestCertificate } from '../dns/certificates.ts';

/** Tables that enable DNS over TLS and HTTPS; without a certificate, Weir uses the certificate of its web server. */
export function encryptedToml(
  ports: { readonly dot: number; readonly doh: number },
  certificate?: Pick<TestCertificate, 'certPath' | 'keyPath'>,
): string {
  const own =
    certificate === undefined
      ? ''
      : `tls_cert_path = ${JSON.stringify(certificate.certPath)}\ntls_key_path = ${JSON.stringify(certificate.keyPath)}\n`;
  return `[server.encrypted_dns]
dot_enabled = true
dot_port = ${ports.dot}
doh_enabled = true
doh_port = ${ports.doh}
${own}`;
}
