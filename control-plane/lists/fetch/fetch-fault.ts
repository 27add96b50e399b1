/** Says in one line of plain words why a list could not be fetched or stored, whatever the system or a library calls it. */
import { errorCode, reasonOf } from '../../../shared/thrown.ts';

const REASONS = new Map<string, string>([
  ['ENOTFOUND', 'the host name does not exist'],
  ['ENODATA', 'the host name has no address'],
  ['EAI_AGAIN', 'the host name could not be looked up'],
  ['ECONNREFUSED', 'the server refused the connection'],
  ['ECONNRESET', 'the server closed the connection'],
  ['EPIPE', 'the server closed the connection'],
  ['ETIMEDOUT', 'the server did not answer'],
  ['EHOSTUNREACH', 'the server cannot be reached'],
  ['ENETUNREACH', 'the network of the server cannot be reached'],
  ['EADDRNOTAVAIL', 'this machine has no address to connect from'],
  ['CERT_HAS_EXPIRED', "the server's certificate has expired"],
  ['CERT_NOT_YET_VALID', "the server's certificate is not valid yet"],
  ['CERT_REVOKED', "the server's certificate was revoked"],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', "the server's certificate is self-signed"],
  ['SELF_SIGNED_CERT_IN_CHAIN', "the issuer of the server's certificate is not known"],
  ['UNABLE_TO_GET_ISSUER_CERT', "the issuer of the server's certificate is not known"],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', "the issuer of the server's certificate is not known"],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', "the issuer of the server's certificate is not known"],
  ['ERR_TLS_CERT_ALTNAME_INVALID', "the server's certificate is for another name"],
  ['EPROTO', 'the server does not speak TLS as Weir does'],
  ['HPE_HEADER_OVERFLOW', 'the header of the response is too large'],
  ['Z_BUF_ERROR', 'the compressed data ends too early'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the file system is read-only'],
  ['EIO', 'the disk failed'],
  ['EACCES', 'permission denied'],
  ['ENOENT', 'the folder does not exist'],
]);
/** Codes by how they start. */
const FAMILIES: readonly (readonly [string, string])[] = [
  ['HPE_', 'the server does not speak HTTP as Weir does'],
  ['ERR_SSL_', 'the server does not speak TLS as Weir does'],
  ['ERR_TLS_', 'the server does not speak TLS as Weir does'],
  ['Z_', 'the compressed data is damaged'],
];
/** Places in the source of a library, as OpenSSL appends them. */
const SOURCE_PLACE = /(?:[\w.-]*\/)+[\w.-]+\.[a-z]{1,4}:\d+(?::\d+)?/gi;
const MAX_LENGTH = 200;

/** The reason of a failed exchange or write. */
export function explainFault(error: unknown): string {
  const first =
    error instanceof AggregateError && error.errors.length > 0 ? (error.errors[0] as unknown) : error;
  const reason = reasonOf(first);
  // Node calls a body that stops before its end just this.
  if (reason === 'aborted') return 'the connection was closed before the end';
  const code = errorCode(first);
  const known = REASONS.get(code) ?? FAMILIES.find(([start]) => code.startsWith(start))?.[1];
  if (known !== undefined) return known;
  const [line = ''] = reason.replaceAll(SOURCE_PLACE, '').trim().split('\n', 1);
  return line.trim().slice(0, MAX_LENGTH);
}
