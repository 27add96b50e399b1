/** Says in one line of plain words why a list could not be fetched or stored, whatever the system or a library calls it. */
import { describeCode } from '../../../shared/net/fault-cause.ts';
import { errorCode, reasonOf } from '../../../shared/thrown.ts';

const REASONS = new Map<string, string>([
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
  const known =
    REASONS.get(code) ?? describeCode(code) ?? FAMILIES.find(([start]) => code.startsWith(start))?.[1];
  if (known !== undefined) return known;
  const [line = ''] = reason.replaceAll(SOURCE_PLACE, '').trim().split('\n', 1);
  return line.trim().slice(0, MAX_LENGTH);
}
