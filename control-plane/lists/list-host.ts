/**
 * Which hosts lists may come from. Link-local addresses are refused, because behind them are the metadata
 * services of clouds and nothing that serves lists; the look-up below checks what a name really leads to,
 * so that neither a redirect nor a name that changes its address gets around it.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { ListError } from './list-error.ts';

/** Resolves a host name to its addresses. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The resolver of the machine. */
export const lookupBySystem: Lookup = (hostname) => systemLookup(hostname, { all: true });

const refused = new BlockList();
refused.addSubnet('169.254.0.0', 16, 'ipv4');
refused.addSubnet('fe80::', 10, 'ipv6');

/** Whether an address literal is link-local (RFC 3927, RFC 4291 section 2.5.6). */
export function isLinkLocal(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && refused.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Throws a ListError where the host of a URL is a refused address. */
export function checkHost(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isLinkLocal(host)) throw refusedHost(host);
}

/** A look-up for `http.request` that leaves refused addresses out. */
export function guardedLookup(lookup: Lookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname).then(
      (all) => {
        const usable = all.filter(({ address }) => !isLinkLocal(address));
        const first = usable[0];
        if (first === undefined) callback(refusedHost(hostname), '', 0);
        else if (options.all === true) callback(null, [...usable]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), '', 0),
    );
  };
}

function refusedHost(host: string): ListError {
  return new ListError('refused_host', `fetch list: ${host} is link-local; lists are not taken from there`);
}
