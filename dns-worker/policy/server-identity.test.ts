import { describe, expect, test } from '@jest/globals';
import { addressFromText } from '../../shared/net/ip.ts';
import { LogMark } from '../../shared/query-log.ts';
import { NodeState, WorkerControl } from '../../shared/threads/messages.ts';
import type { TypeSpec } from '../../test/support/dns/dns-message.ts';
import { slotQuery } from '../../test/support/parts/slot-query.ts';
import { openLists } from '../../test/support/parts/test-lists.ts';
import { NO_IDENTITY, ServerIdentity } from './server-identity.ts';

const SNAPSHOT = openLists([]);
const SETTINGS = {
  ...NO_IDENTITY,
  chaosClients: ['192.0.2.0/24', '2001:db8::1'],
  version: '1.2',
  nodeName: 'attic',
};

/** The text for a client; null = the query is refused. */
function textFor(
  name: string,
  { type = 'TXT', client = '192.0.2.9' }: { type?: TypeSpec; client?: string } = {},
  identity = new ServerIdentity(SETTINGS),
): string | null {
  const slot = slotQuery(SNAPSHOT, name, type, { qclass: 3 });
  slot.clientBytes = addressFromText(client)!;
  const rdata = identity.chaosText(slot);
  if (rdata === null) return null;
  expect(rdata[0]).toBe(rdata.length - 1);
  return Buffer.from(rdata.subarray(1)).toString();
}

describe('ServerIdentity, the answers to version.bind and similar names,', () => {
  test.each([
    ['version.bind', 'Weir 1.2'],
    ['VERSION.Server', 'Weir 1.2'],
    ['hostname.bind', 'attic'],
    ['id.server', 'attic'],
    ['status.weir', 'ready'],
  ])('answers %s (RFC 4892)', (name, text) => {
    expect([textFor(name), textFor(name, { client: '2001:db8::1' })]).toEqual([text, text]);
  });

  test('returns the URL of the compatibility API for PADD if this API is enabled', () => {
    const compatApi = { local: 'http://127.0.0.1:8080/api/', named: 'http://pi.hole:8080/api/' };
    const identity = new ServerIdentity({ ...SETTINGS, compatApi });
    expect(textFor('local.api.ftl', {}, identity)).toBe(compatApi.local);
    for (const name of ['domain.api.ftl', 'API.ftl'])
      expect(textFor(name, {}, identity)).toBe(compatApi.named);
    expect(textFor('local.api.ftl', { client: '198.51.100.1' }, identity)).toBeNull();
    expect(textFor('local.api.ftl')).toBeNull();
  });

  test('returns null for unknown clients, other names and other types', () => {
    expect(textFor('version.bind', { client: '198.51.100.1' })).toBeNull();
    expect(textFor('authors.bind')).toBeNull();
    expect(textFor('x.version.bind')).toBeNull();
    expect(textFor('version.bind', { type: 'A' })).toBeNull();
    expect(textFor('version.bind', {}, new ServerIdentity())).toBeNull();
  });

  test('returns the state of the node for status.weir', () => {
    const control = new Int32Array(64);
    const identity = new ServerIdentity(SETTINGS, control);
    const order = [NodeState.HOLDING, NodeState.STARTING, NodeState.READY, NodeState.DRAINING];
    const states = order.map((state) => {
      control[WorkerControl.NODE_STATE_WORD] = state;
      return textFor('status.weir', {}, identity);
    });
    expect(states).toEqual(['starting', 'starting', 'ready', 'draining']);
  });

  test('truncates a name that is longer than a TXT string', () => {
    const identity = new ServerIdentity({ ...SETTINGS, nodeName: 'n'.repeat(300) });
    expect(textFor('id.server', {}, identity)).toHaveLength(255);
  });

  test.each([
    ['health.example.com', 1, LogMark.NONE],
    ['Health.Example.com', 1, LogMark.NONE],
    ['x.health.example.com', 1, LogMark.COUNTED],
    [`${'0123456789ab'.repeat(2)}.probe.weir.test`, 1, LogMark.PROBE],
    ['probe.weir.test', 1, LogMark.COUNTED],
    ['status.weir', 3, LogMark.NONE],
    ['status.weir', 1, LogMark.COUNTED],
    ['example.com', 1, LogMark.COUNTED],
  ])('logMarkOf() for %s, class %i, is %i', (name, qclass, mark) => {
    const identity = new ServerIdentity({ ...SETTINGS, healthCheckNames: ['health.example.com'] });
    expect(identity.logMarkOf(slotQuery(SNAPSHOT, name, 'A', { qclass }))).toBe(mark);
  });
});
