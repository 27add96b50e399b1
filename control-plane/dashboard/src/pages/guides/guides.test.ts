import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import english from './guides.en.json' with { type: 'json' };
import { GUIDE_IDS, guideOf, piecesOf, PRODUCTS, withAddresses } from './guides.ts';
import type { GuideFile } from './guides.ts';

const ADDRESSES = { ipv4: '192.0.2.53', ipv6: 'fd00::53' };
const FILES = readdirSync(import.meta.dirname)
  .filter((file) => /^guides\.\w+\.json$/.test(file))
  .map(
    (file) => [file, JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as GuideFile] as const,
  );

describe.each(FILES)('the guides of %s', (_name, file) => {
  test.each(GUIDE_IDS)('have a name, and steps with the IPv4 and IPv6 address, for %s', (id) => {
    const { name, ipv4, ipv6, commands } = guideOf(id, file);
    expect(name).toBe(PRODUCTS[id].name ?? file.guides[id].name);
    expect([...ipv4, commands?.ipv4].join(' ')).toContain('{ipv4}');
    for (const steps of [ipv4, ipv6]) expect(steps.length).toBeGreaterThan(0);
    for (const step of [...ipv4, ...ipv6]) {
      const text = piecesOf(step, ADDRESSES).map((piece) => piece.text);
      expect(text.join('')).not.toMatch(/[*`{}]/);
    }
  });

  test('use the same addresses in each step as the English guides', () => {
    const places = ({ guides, withoutSetting }: GuideFile): unknown[] => [
      ...GUIDE_IDS.map((id) => [id, [...guides[id].ipv4, ...guides[id].ipv6].map(placesIn)]),
      withoutSetting.map(placesIn),
    ];
    expect(places(file)).toEqual(places(english));
    expect(Object.keys(file.guides)).toEqual(Object.keys(PRODUCTS));
  });
});

function placesIn(step: string): string {
  return (step.match(/\{\w+\}/g) ?? []).join();
}

describe('guideOf(), the guide with an ID,', () => {
  test('is the guide for other routers if the ID is unknown', () => {
    expect(guideOf('constructor', english)).toMatchObject({ id: 'otherRouter', name: 'Another router' });
  });
});

describe('piecesOf(), the parts of a step in a guide,', () => {
  test('separates menu names and values from text, and fills in addresses', () => {
    expect(piecesOf('Go to *DNS*, add `6,{ipv4}` or {ipv6}.', ADDRESSES)).toEqual([
      { kind: 'text', text: 'Go to ' },
      { kind: 'menu', text: 'DNS' },
      { kind: 'text', text: ', add ' },
      { kind: 'code', text: '6,192.0.2.53' },
      { kind: 'text', text: ' or ' },
      { kind: 'code', text: 'fd00::53' },
      { kind: 'text', text: '.' },
    ]);
    expect(withAddresses('dns {ipv4} {ipv5}', ADDRESSES)).toBe('dns 192.0.2.53 {ipv5}');
  });
});
