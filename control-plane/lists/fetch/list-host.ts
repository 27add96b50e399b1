/**
 * Decides from which hosts lists and the service catalog may be fetched, so that text from outside cannot make Weir
 * connect to hosts that only this machine can reach. Local addresses are only allowed if a user entered a URL with such
 * an address, or with a name that can only be local. They are not allowed for redirects to other hosts, or for other
 * names. The lookup function returns only checked addresses, so the address of a name cannot change between check and
 * connection.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { scopeOfText } from '../../../shared/net/address-scope.ts';
import { addressFromText, addressToText, isMappedIpv4 } from '../../../shared/net/ip.ts';
import { ListError } from './list-error.ts';

/** Resolves a host name to its addresses. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Resolves a name with the resolver of the machine. */
export const lookupBySystem: Lookup = (hostname) => systemLookup(hostname, { all: true });

/** The local domain and Weir's own ports, to which different rules apply. */
export interface FetchBounds {
  /** Domain of the local network, '' = none. */
  readonly localDomain: () => string;
  /** Ports on which this process listens. */
  readonly ownPorts: () => ReadonlySet<number>;
}

/** Names below these domains are in the local network (RFC 6762, RFC 8375, and other common or reserved domains). */
const LOCAL_SUFFIXES = ['home.arpa', 'internal', 'lan', 'local'];
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * The lookup for a request to `url`. Throws a ListError if the host of `url` is a forbidden address. The lookup fails
 * with a ListError if all addresses of a name are forbidden. `entered` is the URL that a user entered.
 */
export function boundedLookup(
  url: URL,
  entered: URL,
  { bounds, lookup }: { readonly bounds: FetchBounds; readonly lookup: Lookup },
): LookupFunction {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isLiteral = isIP(host) !== 0;
  const mayBeLocal = url.origin === entered.origin && (isLiteral || isLocalName(host, bounds.localDomain()));
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol]! : Number(url.port);
  const reasonAgainst = (address: string): string | null => {
    const scope = scopeOfText(address);
    if (scope === 'forbidden') return `${address} is link-local, a metadata service or not a unicast address`;
    if (scope === 'local' && !mayBeLocal)
      return `${address} is local, and neither that address nor a local name was entered`;
    return bounds.ownPorts().has(port) && isOwn(address)
      ? `port ${port} of ${address} is a port of Weir`
      : null;
  };
  const literalReason = isLiteral ? reasonAgainst(host) : null;
  if (literalReason !== null) throw refusedHost(host, literalReason);
  return asLookupFunction(lookup, reasonAgainst);
}

/** Converts `lookup` to the form that Node.js calls, and removes forbidden addresses from its results. */
function asLookupFunction(lookup: Lookup, reasonAgainst: (address: string) => string | null): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname).then(
      (all) => {
        const usable = all.filter(({ address }) => reasonAgainst(address) === null);
        const first = usable[0];
        const reason = all[0] === undefined ? 'the host has no address' : reasonAgainst(all[0].address);
        if (first === undefined) callback(refusedHost(hostname, reason ?? ''), '', 0);
        else if (options.all === true) callback(null, [...usable]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), '', 0),
    );
  };
}

/** Whether a name, without a final dot, can only mean a host in the local network. */
function isLocalName(name: string, localDomain: string): boolean {
  const lower = name.toLowerCase();
  const suffixes = localDomain === '' ? LOCAL_SUFFIXES : [...LOCAL_SUFFIXES, localDomain.toLowerCase()];
  return !lower.includes('.') || suffixes.some((suffix) => lower === suffix || lower.endsWith(`.${suffix}`));
}

/** Whether an address belongs to this machine. */
function isOwn(text: string): boolean {
  const bytes = addressFromText(text)!;
  if (isMappedIpv4(bytes) && bytes[12] === 127) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some(({ address }) => addressToText(addressFromText(address)!) === addressToText(bytes));
}

function refusedHost(host: string, reason: string): ListError {
  return new ListError(
    'refused_host',
    `could not fetch the list: lists must not be fetched from ${host}: ${reason}`,
  );
}
