import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trustPoints } from './trust-points.ts';

const folder = mkdtempSync(join(tmpdir(), 'weir-anchors-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function points(file: string, negative: string[] = []): ReturnType<typeof trustPoints> {
  const dns = { dnssec_trust_anchors: file, dnssec_negative_trust_anchors: negative };
  return trustPoints(dns);
}

describe('trustPoints()', () => {
  test('trustPoints() takes the built-in anchors where no file is named, and negative ones as names', () => {
    const { anchors, negativeAnchors } = points('', ['Broken.example.org']);
    expect(anchors.map(({ zone }) => zone)).toEqual([Uint8Array.of(0), Uint8Array.of(0)]);
    expect(Buffer.from(negativeAnchors[0]!).toString()).toBe('\x06broken\x07example\x03org\0');
  });

  test('trustPoints() takes the anchors of the file instead', () => {
    const file = join(folder, 'anchors');
    writeFileSync(file, 'example.org. IN DS 1 13 2 AABB\n');
    expect(points(file).anchors).toHaveLength(1);
  });

  test('trustPoints() throws for a file that is not there or holds something else', () => {
    expect(() => points(join(folder, 'none'))).toThrow('ENOENT');
    const file = join(folder, 'wrong');
    writeFileSync(file, 'managed-keys { };\n');
    expect(() => points(file)).toThrow('read trust anchor');
  });
});
