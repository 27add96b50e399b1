/** The typed error of every listener. */

/** An address and port that could not be listened on; `code` is the system's name, e.g. EADDRINUSE. */
export class ListenError extends Error {
  readonly address: string;
  readonly port: number;
  readonly code: string;

  constructor(address: string, port: number, code: string) {
    super(`listen on ${address} port ${String(port)}: ${code}`);
    this.name = 'ListenError';
    this.address = address;
    this.port = port;
    this.code = code;
  }
}
