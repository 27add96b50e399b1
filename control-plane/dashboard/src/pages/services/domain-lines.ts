/** Parses domains that users enter one per line, and assigns the server's errors to these domains. */
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';

/** Domains in a text, separated by lines, spaces or commas. */
export function domainsOf(lines: string): string[] {
  return lines.split(/[\s,]+/).filter((domain) => domain !== '');
}

/**
 * Error message of the first invalid domain, with its name; null if all are valid. `translate` is applied to the
 * server's messages.
 */
export function domainFault(
  failure: Error | null,
  domains: readonly string[],
  translate: (message: string) => string,
): string | null {
  if (!(failure instanceof ApiFailure)) return null;
  const fault = failure.problem?.errors?.find(({ path }) => /^domains(?:\.|\[|$)/.test(path));
  if (fault === undefined) return null;
  const place = /\d+/.exec(fault.path);
  const domain = place === null ? undefined : domains[Number(place[0])];
  const message = translate(fault.message);
  return domain === undefined ? message : `${domain}: ${message}`;
}
