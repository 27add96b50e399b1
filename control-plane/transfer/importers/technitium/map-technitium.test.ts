import { describe, expect, test } from '@jest/globals';
import { mapTechnitium } from './map-technitium.ts';
import type { TechnitiumSettings } from './technitium-settings.ts';

const NOTHING: TechnitiumSettings = {
  ...{ lists: [], refreshHours: null, allowed: [], blocked: [], advancedBlocking: null, zones: [] },
  ...{ settings: null, hasBinarySettings: false, apps: [] },
};
const SOA = '@ 3600 IN SOA ns.home.example. admin.home.example. 1 2 3 4 5\n';

describe('mapTechnitium()', () => {
  test('answers the names of a primary zone locally, with its records', () => {
    const text = `${SOA}www 300 IN A 192.0.2.7\n`;
    const { document } = mapTechnitium({ ...NOTHING, zones: [{ name: 'home.example', text }] });
    expect(document.forward_zones).toEqual([
      expect.objectContaining({ zone: 'home.example', servers: [], enabled: true }),
    ]);
    expect(document.local_records).toEqual([
      expect.objectContaining({ record_type: 'A', value: '192.0.2.7', ttl: 300 }),
    ]);
  });

  test('forwards the names of a forwarder zone to its servers', () => {
    const text = '@ 0 IN FWD Udp 192.0.2.53\n';
    const { document } = mapTechnitium({ ...NOTHING, zones: [{ name: 'corp.example', text }] });
    expect(document.forward_zones).toEqual([
      expect.objectContaining({ zone: 'corp.example', servers: [expect.stringContaining('192.0.2.53')] }),
    ]);
  });

  test('also applies allowed and blocked names to the names below them', () => {
    const { lists, document } = mapTechnitium({
      ...NOTHING,
      allowed: ['good.example'],
      blocked: ['bad.example'],
    });
    const made = JSON.stringify([lists, document.managed_domains]);
    expect(made).toContain('*.good.example');
    expect(made).toContain('*.bad.example');
  });

  test('reports binary zones, apps and binary settings as unreadable, and skips default zones', () => {
    const { items } = mapTechnitium({
      ...NOTHING,
      zones: [
        { name: 'binary.example', text: null },
        { name: 'localhost', text: SOA },
      ],
      ...{ hasBinarySettings: true, apps: ['Split Horizon'] },
    });
    expect(items.map(({ name, result }) => [name, result])).toEqual([
      ['zone binary.example', 'not_mapped'],
      ['zone localhost', 'skipped'],
      ['dns.config', 'not_mapped'],
      ['app Split Horizon', 'not_mapped'],
    ]);
  });
});
