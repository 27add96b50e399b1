// Sends a single query to a server, to check whether it is up and whether it blocks. The measured load is generated
// elsewhere.
import { Resolver } from 'node:dns/promises';
import { codeOf } from '../../../shared/errors.ts';

/** The address in the upstream's answers for every allowed name. */
export const UPSTREAM_ADDRESS = '192.0.2.1';

export type ProbeOutcome = 'blocked' | 'allowed' | 'no answer';

const NAME_IS_BLOCKED = new Set(['ENOTFOUND', 'ENODATA', 'EREFUSED']);

/** Queries the A record of `name` from 127.0.0.1 on `port`; throws if the answer is neither blocked nor allowed. */
export async function probe(port: number, name: string, timeoutMs = 300): Promise<ProbeOutcome> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  try {
    const addresses = await resolver.resolve4(`${name}.`);
    if (addresses.every((address) => address === '0.0.0.0')) return 'blocked';
    if (addresses.includes(UPSTREAM_ADDRESS)) return 'allowed';
    throw new Error(`probe ${name} on port ${port}: unexpected answer ${addresses.join(', ')}`);
  } catch (error) {
    const code = error instanceof Error ? codeOf(error) : '';
    if (code === '') throw error;
    return NAME_IS_BLOCKED.has(code) ? 'blocked' : 'no answer';
  }
}
