/** The error that all listeners throw. */

/** An address and port that a listener could not bind; `code` is the system's name, e.g. EADDRINUSE. */
export class ListenError extends Error {
  readonly address: string;
  readonly port: number;
  readonly code: string;

  constructor(address: string, port: number, code: string) {
    super(`could not listen on ${address} port ${String(port)}: ${code}`);
    this.name = 'ListenError';
    this.address = address;
    this.port = port;
    this.code = code;
  }
}
