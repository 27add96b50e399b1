import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../../config/schema.ts';
import { systemClock } from '../../../shared/clock.ts';
import { nameToText } from '../../../shared/dns/name.ts';
import { MemoryLogger } from '../../../test/support/parts/memory-logger.ts';
import { testConfig } from '../../../test/support/parts/test-config.ts';
import { FollowedAnchors, trustPoints } from './trust-points.ts';
import { workerSettings } from './worker-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-anchors-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function points(file: string, negative: string[] = []): ReturnType<typeof trustPoints> {
  const dns = { dnssec_trust_anchors: file, dnssec_negative_trust_anchors: negative };
  return trustPoints(dns);
}

describe('trustPoints()', () => {
  test('uses the built-in anchors if no file is configured, and returns negative anchors as names', () => {
    const { anchors, negativeAnchors } = points('', ['Broken.example.org']);
    expect(anchors.map(({ zone }) => zone)).toEqual([Uint8Array.of(0), Uint8Array.of(0)]);
    expect(Buffer.from(negativeAnchors[0]!).toString()).toBe('\x06broken\x07example\x03org\0');
  });

  test('uses the anchors of the file instead of the built-in ones', () => {
    const file = join(folder, 'anchors');
    writeFileSync(file, 'example.org. IN DS 1 13 2 AABB\n');
    expect(points(file).anchors).toHaveLength(1);
  });

  test('throws for a file that does not exist or has a wrong format', () => {
    expect(() => points(join(folder, 'none'))).toThrow('ENOENT');
    const file = join(folder, 'wrong');
    writeFileSync(file, 'managed-keys { };\n');
    expect(() => points(file)).toThrow('could not read a trust anchor');
  });
});

describe('FollowedAnchors', () => {
  const configOf = (updates: string, isOn = true) => {
    const file = join(folder, 'followed');
    writeFileSync(file, 'example.org. IN DS 1 13 2 AABB\n');
    return testConfig(
      `dns.dnssec_enabled = ${isOn}\ndns.dnssec_trust_anchors = "${file}"\ndns.dnssec_anchor_updates = "${updates}"`,
    );
  };

  test('observe each zone once while validation is enabled and its anchors are updated automatically', async () => {
    const anchors = new FollowedAnchors({
      ...{ dataDir: folder, clock: systemClock, isClockWrong: () => false },
      logger: new MemoryLogger(),
    });
    const observed: string[] = [];
    const use = async (config: Config): Promise<boolean> => {
      const settings = workerSettings(config, 53, { udpBackend: 'auto', faultInjection: false });
      const { dnssec } = await anchors.addTo(settings, config);
      anchors.follow({
        observe: async (zone) => {
          observed.push(nameToText(zone));
          return null;
        },
        trust: () => undefined,
      });
      await new Promise(setImmediate);
      return dnssec !== null;
    };
    expect(await use(configOf('builtin'))).toBe(true);
    expect(observed).toEqual([]);
    expect(await use(configOf('all'))).toBe(true);
    expect(await use(configOf('all'))).toBe(true);
    expect(observed).toEqual(['example.org']);
    expect(await use(configOf('all', false))).toBe(false);
    expect(await use(configOf('all'))).toBe(true);
    expect(observed).toEqual(['example.org', 'example.org']);
    await anchors.close();
  });
});
