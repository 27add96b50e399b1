/**
 * Lists whose lines depend on each other, compared with the servers to which the formats belong, using the same files.
 *
 * @needs unbound bind9 dnsmasq-base
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PolicyMatcher } from '../../dns-worker/policy/policy-matcher.ts';
import { NOT_BLOCKED, isAllowing } from '../../dns-worker/policy/rule-match-memo.ts';
import { UdpClient } from '../support/dns/dns-client.ts';
import { startEchoingUpstream } from '../support/dns/echoing-upstream.ts';
import {
  type PolicyServer,
  startDnsmasqLines,
  startPolicyZone,
  startUnboundZones,
} from '../support/dns/policy-servers.ts';
import type { ScriptedUpstream } from '../support/dns/scripted-upstream.ts';
import { openLists, queryFor } from '../support/parts/test-lists.ts';
import {
  DNSMASQ_FILES,
  type NeighbourFile,
  RPZ_FILES,
  UNBOUND_FILES,
} from '../support/reference/neighbour-files.ts';

/** Addresses that mark a name as blocked. */
const NULL_ADDRESS = /^(?:0\.0\.0\.0|127\.0\.0\.1)$/;

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startEchoingUpstream();
});
afterAll(() => upstream[Symbol.asyncDispose]());

/** The names that Weir blocks with the file as a list. */
function blockedHere({ lines, names }: NeighbourFile): string[] {
  const reading = { kind: 'block', subdomains: false } as const;
  const snapshot = openLists([{ text: `${lines.join('\n')}\n`, reading }]);
  const matcher = new PolicyMatcher();
  return names.filter((name) => {
    const query = queryFor(name, snapshot);
    const match = matcher.match(query, query, snapshot, 0);
    return match !== NOT_BLOCKED && !isAllowing(match);
  });
}

/** The names for which a server with the file returns no usable address. */
async function blockedThere(start: PolicyServer, { lines, names }: NeighbourFile): Promise<string[]> {
  const server = await start(lines, upstream.port);
  const client = await UdpClient.open(server.port);
  try {
    const replies = await client.askAll(names.map((name) => ({ name, type: 'A' as const })));
    return names.filter((_, index) => {
      const answers = (replies[index]!.message.answers ?? []) as { type: string; data: unknown }[];
      return !answers.some(({ type, data }) => type === 'A' && !NULL_ADDRESS.test(String(data)));
    });
  } finally {
    client.close();
    await server.close();
  }
}

describe.each<[string, PolicyServer, readonly NeighbourFile[]]>([
  ['unbound', startUnboundZones, UNBOUND_FILES],
  ['dnsmasq', startDnsmasqLines, DNSMASQ_FILES],
  ['BIND', startPolicyZone, RPZ_FILES],
])('a list in the format of %s', (_, start, files) => {
  test.each(files.map((file) => [file.lines.join(' / '), file] as const))(
    'blocks the same names in Weir as in that server: %s',
    async (__, file) => {
      expect(blockedHere(file)).toEqual(await blockedThere(start, file));
    },
  );
});
