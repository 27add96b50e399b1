import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { mapBlockyClients } from './blocky-clients.ts';
import { readBlockyRecords } from './blocky-records.ts';
import { readBlocky } from './read-blocky.ts';

/** The rows of clients as result and reason by name. */
function clientsOf(text: string): Record<string, string> {
  const builder = new PlanBuilder();
  const settings = readBlocky(new Map([[ONLY_TEXT, Buffer.from(text)]]));
  mapBlockyClients(builder, settings, readBlockyRecords(settings));
  return Object.fromEntries(
    builder
      .finish('blocky')
      .items.flatMap(({ kind, name, result, reason }) =>
        kind === 'client' || kind === 'subnet' ? [[name, `${result}: ${reason}`]] : [],
      ),
  );
}

const keysOf = (keys: string, rest = '') => `blocking: {clientGroupsBlock: {${keys}}}\n${rest}`;

describe('mapBlockyClients()', () => {
  test('converts an address with a trailing asterisk, such as 192.0.*, to the network (192.0.0.0/16)', () => {
    expect(Object.keys(clientsOf(keysOf('"192.*": [a], "192.0.*": [a], "192.0.2.*": [a]')))).toEqual([
      expect.stringContaining('192.0.0.0/8'),
      expect.stringContaining('192.0.0.0/16'),
      expect.stringContaining('192.0.2.0/24'),
    ]);
  });

  test('creates a client for each address of a name, also if the name has a wildcard', () => {
    const file = keysOf('tv*: [a]', 'clientLookup: {clients: {tv1: [192.0.2.5, "2001:db8::5"]}}\n');
    expect(Object.keys(clientsOf(file))).toEqual(['tv1 (192.0.2.5)', 'tv1 (2001:db8::5)']);
  });

  test('reports a name without an address, and a name with an invalid address', () => {
    const rows = clientsOf(keysOf('laptop: [a]', 'clientLookup: {clients: {desk: [nowhere]}}\n'));
    expect(rows).toEqual({
      laptop: expect.stringMatching(/^not_mapped: Weir identifies clients by address/),
      'desk nowhere': 'not_mapped: it is not an address',
    });
  });
});
