// Asking a server one question, to see whether it is up and whether it blocks. The measured load is not made here.
import { Resolver } from 'node:dns/promises';
import { codeOf } from '../../../shared/errors.ts';

/** The address that the upstream gives for every allowed name. */
export const UPSTREAM_ADDRESS = '192.0.2.1';

export type ProbeOutcome = 'blocked' | 'allowed' | 'no answer';

const NAME_IS_BLOCKED = new Set(['ENOTFOUND', 'ENODATA', 'EREFUSED']);

/** Asks 127.0.0.1 on `port` for the A record of `name`; throws only for an answer that is neither. */
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
