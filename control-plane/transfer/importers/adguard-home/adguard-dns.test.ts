import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { mapAdguard } from './map-adguard.ts';
import { readAdguard } from './read-adguard.ts';

const planOf = (text: string) =>
  mapAdguard(readAdguard(new Map([[ONLY_TEXT, Buffer.from(`schema_version: 34\n${text}`)]])));

describe('mapAdguardDns()', () => {
  test('forwards to the default servers a name that is excluded from a forward zone', () => {
    const { forward_zones: zones } = planOf(
      "dns: {upstream_dns: ['[/home.example/]192.0.2.1', 192.0.2.53, '[/public.home.example/]#', '[/*.sub.example/]192.0.2.3']}\n",
    ).document;
    expect(zones.map(({ zone, servers }) => [zone, servers])).toEqual([
      ['home.example', ['192.0.2.1']],
      ['sub.example', ['192.0.2.3']],
      ['public.home.example', ['192.0.2.53']],
    ]);
  });

  test('creates forward zones for PTR queries of the private networks in the file', () => {
    const { document, items } = planOf(
      'dns: {local_ptr_upstreams: [192.0.2.1], private_networks: [192.168.0.0/16]}\n' +
        'filtering: {rewrites: [{domain: nas.example, answer: 192.168.1.5}]}\n',
    );
    expect(document.forward_zones).toMatchObject([{ servers: ['192.0.2.1'] }]);
    expect(items).toContainEqual(
      expect.objectContaining({ name: 'names of addresses in rewrites', result: 'differs' }),
    );
  });
});
