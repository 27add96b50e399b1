/** Unusual but valid upstreams, which differ in how they handle cookies and the case of names. */
import { EdnsOption, Rcode } from '../../../shared/dns/iana.ts';
import { FOLD } from '../../../shared/dns/name.ts';
import { a, idOf, octets, opt, questionOf, response, soa, type TestRecord } from './built-messages.ts';
import type { ReceivedQuery, Script, ScriptedUpstream } from './scripted-upstream.ts';

/** The address in every valid answer. */
export const GOOD_ADDRESS = '192.0.2.9';
/** Response flags with FORMERR, NXDOMAIN and REFUSED from a resolver. */
export const FLAGS = { formerr: 0x8181, nxdomain: 0x8183, refused: 0x8185 } as const;
const FOREIGN_COOKIE = Uint8Array.from({ length: 16 }, (_, at) => 0xa0 + at);
const OPT_HEAD = 11;

/** The qname of a query. */
export function nameIn({ bytes }: ReceivedQuery): string {
  return Buffer.from(questionOf(bytes).qname).toString('latin1');
}

/** Whether a query has an OPT record. */
export function hasEdns({ bytes }: ReceivedQuery): boolean {
  return bytes[11] === 1;
}

/** The options in the OPT record of a query; empty without one. */
export function optionsOf(query: ReceivedQuery): Uint8Array {
  const end = 12 + questionOf(query.bytes).qname.length + 4;
  return hasEdns(query) ? query.bytes.slice(end + OPT_HEAD) : new Uint8Array(0);
}

/** The cookie of a query, which is its first option; empty if there is none. */
export function cookieOf(query: ReceivedQuery): Uint8Array {
  const options = optionsOf(query);
  if (options.length < 4 || options[1] !== EdnsOption.COOKIE) return new Uint8Array(0);
  return options.slice(4, 4 + options[3]!);
}

/** Whether the name of a query has an upper-case letter. */
export function isMixed(query: ReceivedQuery): boolean {
  return nameIn(query) !== nameIn(query).toLowerCase();
}

/** How a reply differs from a valid answer. */
export interface Reply {
  readonly flags?: number;
  /** Options in the reply's OPT record; null = no OPT record. */
  readonly options?: Uint8Array | null;
  /** The name in the question of the reply. */
  readonly qname?: Uint8Array;
}

/** A reply to a query. */
export function replyTo(
  query: ReceivedQuery,
  { flags = 0x8180, options = new Uint8Array(0), qname }: Reply = {},
): Uint8Array {
  const asked = questionOf(query.bytes);
  const rcode = flags & 0xf;
  const record = options === null || !hasEdns(query) ? [] : [{ ...opt(), rdata: options }];
  const answers: TestRecord[] = rcode === Rcode.NOERROR ? [a(Uint8Array.of(0xc0, 12), GOOD_ADDRESS)] : [];
  const authorities = rcode === Rcode.NXDOMAIN ? [soa('example.org', 300, 300)] : [];
  return response(
    { ...asked, qname: qname ?? asked.qname },
    { id: idOf(query.bytes), flags, answers, authorities, additionals: record },
  );
}

/** The name in lower case. */
export function foldedName(query: ReceivedQuery): Uint8Array {
  return questionOf(query.bytes).qname.map((octet) => FOLD[octet]!);
}

/** A COOKIE option. */
export function cookieOption(cookie: Uint8Array): Uint8Array {
  return octets([0, EdnsOption.COOKIE, 0, cookie.length], cookie);
}

/** A correct server without cookies. */
export const good: Script = (query) => query.reply(replyTo(query));

/** A correct server with RFC 7873 cookies; the server's part has 8 bytes. */
export const baking: Script = (query) => {
  const ours = cookieOf(query).subarray(0, 8);
  const options =
    ours.length === 0 ? new Uint8Array(0) : cookieOption(octets(ours, FOREIGN_COOKIE.subarray(8)));
  query.reply(replyTo(query, { options }));
};

/** Echoes every option of the query. */
export const echoingOptions: Script = (query) => query.reply(replyTo(query, { options: optionsOf(query) }));

/** Answers a query that has a cookie with an OPT record whose cookie is not the client's. */
export const foreignCookie: Script = (query) => {
  const options = cookieOf(query).length === 0 ? new Uint8Array(0) : cookieOption(FOREIGN_COOKIE);
  query.reply(replyTo(query, { options }));
};

/** Answers every query with a foreign cookie, even if the query has none. */
export const anyForeignCookie: Script = (query) =>
  query.reply(replyTo(query, { options: cookieOption(FOREIGN_COOKIE) }));

/** Answers FORMERR with an OPT record if the query has a cookie. */
export const refusingCookies: Script = (query) =>
  query.reply(replyTo(query, cookieOf(query).length > 0 ? { flags: FLAGS.formerr } : {}));

/** Ignores queries with a cookie of at least this many bytes. */
export function droppingCookies(minSize = 1): Script {
  return (query) => {
    if (cookieOf(query).length < minSize) good(query, 0);
  };
}

/** Sends a cookie in every second reply. */
export function everySecondCookie(): Script {
  let replies = 0;
  return (query) => (replies++ % 2 === 0 ? baking : good)(query, 0);
}

/** Answers with these flags if the name is not in lower case. */
export function refusingCase(flags: number): Script {
  return (query) => query.reply(replyTo(query, isMixed(query) ? { flags } : {}));
}

/** Sends the question back in lower case. */
export const foldingCase: Script = (query) => query.reply(replyTo(query, { qname: foldedName(query) }));

/** Ignores queries for names that are not in lower case. */
export const droppingCase: Script = (query) => {
  if (!isMixed(query)) good(query, 0);
};

/** Answers FORMERR without an OPT record if the query has an OPT record (RFC 6891 section 7). */
export const refusingEdns: Script = (query) =>
  query.reply(replyTo(query, hasEdns(query) ? { flags: FLAGS.formerr, options: null } : {}));

/** Two servers behind one address: source ports are assigned to them in turn. */
export function bySource(...servers: readonly [Script, Script]): Script {
  const sources = new Map<number, number>();
  return (query, index) => {
    if (!sources.has(query.port)) sources.set(query.port, sources.size);
    servers[sources.get(query.port)! % 2]!(query, index);
  };
}

/** How a server treats connections. */
export type TcpBehaviour = 'works' | 'refused' | 'silent';

/** Makes a server treat its connections in this way. */
export function treatTcp(upstream: ScriptedUpstream, how: TcpBehaviour, script: Script = good): void {
  if (how === 'works') upstream.tcpScript = script;
  else if (how === 'refused') upstream.onConnection = (connection) => connection.resetAndDestroy();
}
