/** Opens the certificates of a node for the web and for encrypted DNS; usually both use the same one. */
import { hostname } from 'node:os';
import type { Node } from './node.ts';
import { CertificateFiles } from '../web/tls/certificate-files.ts';
import { webCertificatePaths } from '../web/tls/certificate-paths.ts';
import { namesOfMachine } from '../web/tls/self-signed.ts';
import { ThreadCertificate } from '../web/tls/thread-certificate.ts';
import { TicketKeys, type TicketKeyParts } from '../web/tls/ticket-keys.ts';
import { WebCertificate } from '../web/tls/web-certificate.ts';

/** The certificate of the DNS threads, and that of the web if it is the same. */
export interface DnsCertificates {
  readonly threads: ThreadCertificate;
  readonly web: WebCertificate | null;
  /** The certificate of encrypted DNS. */
  readonly dns: WebCertificate;
}

/** The certificate of the web; its files are opened only if HTTPS is enabled. */
export async function openWebCertificate(node: Node): Promise<WebCertificate> {
  const certificate = webCertificate(node);
  if (node.config.server.web_tls.enabled) await open(node, certificate);
  return certificate;
}

/** The certificate of encrypted DNS: the one of `server.encrypted_dns` or, without one, that of the web. */
export async function openDnsCertificates(node: Node): Promise<DnsCertificates> {
  const { tls_cert_path: cert, tls_key_path: key } = node.config.server.encrypted_dns;
  const isOfWeb = cert === '';
  const certificate = isOfWeb ? webCertificate(node) : certificateAt(node, { cert, key });
  await open(node, certificate);
  return {
    threads: new ThreadCertificate(certificate, ticketKeysOf(node, 'tls tickets')),
    web: isOfWeb ? certificate : null,
    dns: certificate,
  };
}

/** The session-ticket keys that all nodes share for a purpose. */
export function ticketKeysOf({ secret, clock }: Node, purpose: TicketKeyParts['purpose']): TicketKeys {
  return new TicketKeys({ purpose, secret: () => secret.current(), clock });
}

async function open({ stops }: Node, certificate: WebCertificate): Promise<void> {
  await certificate.open();
  stops.push(certificate.follow());
}

function webCertificate(node: Node): WebCertificate {
  const { tls_cert_path: cert, tls_key_path: key } = node.config.server.web_tls;
  return certificateAt(node, webCertificatePaths({ cert, key }, node.dataDir));
}

function certificateAt(
  { configuration, nodeName, clock, logger }: Node,
  paths: { cert: string; key: string },
) {
  const allowedHosts = (): readonly string[] => configuration.current().server.allowed_hosts;
  return new WebCertificate({
    files: new CertificateFiles(paths),
    names: () => namesOfMachine([nodeName, hostname(), ...allowedHosts()]),
    clock,
    logger,
  });
}
