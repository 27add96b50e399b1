/** A case of the conformance run: a sentence of an RFC, a third-party client, and the expected result. */

/** Transport of a query. */
export type Over = 'udp' | 'tcp' | 'dot' | 'doh';

/** All transports. */
export const EVERY: readonly Over[] = ['udp', 'tcp', 'dot', 'doh'];
/** Transports without a size limit for answers. */
export const STREAMS: readonly Over[] = ['tcp', 'dot', 'doh'];

/** Clients: from BIND, Knot DNS and ldns; curl, openssl, and a script that uses dnspython. */
export type Client = 'dig' | 'kdig' | 'drill' | 'curl' | 'openssl' | 'dnspython';

/** One row of the table. */
export interface ConformanceCase {
  /** For example `RFC 1035 section 4.1.1`. */
  readonly rfc: string;
  readonly statement: string;
  readonly by: Client;
  readonly over: readonly Over[];
  readonly args: readonly string[];
  readonly shows: readonly RegExp[];
  readonly hides?: readonly RegExp[];
}

/** Builds a row; `args` are the client's arguments, separated by single spaces. */
export function row(
  rfc: string,
  statement: string,
  [by, over]: readonly [Client, readonly Over[]],
  args: string,
  ...shows: readonly RegExp[]
): ConformanceCase {
  return { rfc, statement, by, over, args: args.split(' '), shows };
}

/** A copy of a case with patterns that the output must not match. */
export function without(made: ConformanceCase, ...hides: readonly RegExp[]): ConformanceCase {
  return { ...made, hides };
}
