/** A case of the conformance run: a sentence of an RFC, a third-party client, and the expected result. */

/** How a client asks. */
export type Over = 'udp' | 'tcp' | 'dot' | 'doh';

/** Every way. */
export const EVERY: readonly Over[] = ['udp', 'tcp', 'dot', 'doh'];
/** Ways without a limit on the size of answers. */
export const STREAMS: readonly Over[] = ['tcp', 'dot', 'doh'];

/** Clients: of BIND, of Knot DNS, of ldns, curl, openssl, and a script over dnspython. */
export type Client = 'dig' | 'kdig' | 'drill' | 'curl' | 'openssl' | 'dnspython';

/** One row of the table. */
export interface ConformanceCase {
  /** E.g. `RFC 1035 section 4.1.1`. */
  readonly rfc: string;
  readonly says: string;
  readonly by: Client;
  readonly over: readonly Over[];
  readonly args: readonly string[];
  readonly shows: readonly RegExp[];
  readonly hides?: readonly RegExp[];
}

/** A row, written short; `args` are separated by single spaces. */
export function row(
  rfc: string,
  says: string,
  [by, over]: readonly [Client, readonly Over[]],
  args: string,
  ...shows: readonly RegExp[]
): ConformanceCase {
  return { rfc, says, by, over, args: args.split(' '), shows };
}

/** A copy of a case that also lists what must not be there. */
export function without(made: ConformanceCase, ...hides: readonly RegExp[]): ConformanceCase {
  return { ...made, hides };
}
