import { describe, expect, test } from '@jest/globals';
import { explainFault } from './fetch-http.ts';

function fault(message: string, code?: string): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

describe('explainFault()', () => {
  test.each([
    [fault('getaddrinfo ENOTFOUND lists.example', 'ENOTFOUND'), 'the host name does not exist (ENOTFOUND)'],
    [
      new AggregateError([fault('connect ECONNREFUSED ::1:9', 'ECONNREFUSED')]),
      'the server refused the connection (ECONNREFUSED)',
    ],
    [
      fault('certificate has expired', 'CERT_HAS_EXPIRED'),
      "the server's certificate has expired (CERT_HAS_EXPIRED)",
    ],
    [
      fault(
        'C0B7:error:0A000438:SSL routines:ssl3_read_bytes:alert:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:916:SSL alert number 80\n',
        'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
      ),
      'the server and Weir have no TLS version or cipher in common',
    ],
    [
      fault('write EPROTO C0B7:error:../deps/openssl/x.c:1:', 'EPROTO'),
      'the server and Weir have no TLS version or cipher in common (EPROTO)',
    ],
    [fault('Parse Error: Expected HTTP/', 'HPE_INVALID_CONSTANT'), 'the server violates the HTTP protocol'],
    [fault('unexpected end of file', 'Z_BUF_ERROR'), 'the compressed data ends too early'],
    [fault('incorrect header check', 'Z_DATA_ERROR'), 'the compressed data is damaged'],
    [fault('read ECONNRESET', 'ECONNRESET'), 'the server closed the connection (ECONNRESET)'],
    [fault('aborted', 'ECONNRESET'), 'the connection was closed before the end'],
    [fault('aborted'), 'the connection was closed before the end'],
    [fault('something odd: at ../deps/uv/src/a.c:12: again\nat x'), 'something odd: at : again'],
    ['thrown text', 'thrown text'],
  ])('explains %s', (error, reason) => expect(explainFault(error)).toBe(reason));
});
