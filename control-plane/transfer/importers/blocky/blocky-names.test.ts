import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { isFqdnOnly } from './blocky-names.ts';
import { mapBlocky } from './map-blocky.ts';
import { readBlocky } from './read-blocky.ts';

const read = (text: string) => readBlocky(new Map([[ONLY_TEXT, Buffer.from(text)]]));
const rowsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    mapBlocky(read(text)).items.map(({ name, result, reason }) => [name, `${result}: ${reason}`]),
  );

test.each([
  ['fqdnOnly: {enable: true}', true],
  ['fqdnOnly: true', true],
  ['fqdnOnly: {enable: false}', false],
  ['blocking: {}', false],
])('isFqdnOnly() reads %s as %s', (text, expected) => {
  expect(isFqdnOnly(read(`customDNS: {}\n${text}\n`).file)).toBe(expected);
});

describe('mapBlockyNames()', () => {
  test('refuses a zone for single-label names, and a zone without servers', () => {
    const rows = rowsOf('conditional: {mapping: {.: 192.0.2.1, x.example: "%"}}\n');
    expect(rows['.']).toMatch(/^not_mapped: Weir cannot use separate servers for single-label names/);
    expect(rows['x.example']).toMatch(/^not_mapped: /);
  });

  test('prefers the zone to the mapping, and both to hosts files', () => {
    const rows = rowsOf(`
customDNS: {mapping: {a.example: 192.0.2.1}, zone: "a.example. 60 IN A 192.0.2.2\\n"}
hostsFile: {sources: ["192.0.2.3 b.a.example\\n"]}
`);
    expect(rows['a.example 192.0.2.1']).toBe('skipped: a zone has the same name and takes precedence');
    expect(rows['a.example 192.0.2.2']).toMatch(/includes all names below it/);
    expect(rows['b.a.example 192.0.2.3']).toMatch(/^skipped: customDNS answers a\.example/);
  });

  test('does not report the text of lines of hosts files that it cannot read', () => {
    const rows = rowsOf(
      'customDNS: {}\nhostsFile: {sources: ["password=hunter2\\n192.0.2.3 b.example\\n"]}\n',
    );
    expect(rows['hosts files: 1 line']).toMatch(/^not_mapped: /);
    expect(JSON.stringify(rows)).not.toContain('hunter2');
  });
});
