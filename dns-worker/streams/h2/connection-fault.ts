import type { H2CodeValue } from './frames.ts';

/** A protocol error of the client that closes the connection (RFC 9113 section 5.4.1). */
export class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
  readonly code: H2CodeValue;

  constructor(code: H2CodeValue) {
    super(`HTTP/2 connection fault ${code}`);
    this.code = code;
  }
}
