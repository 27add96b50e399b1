import { describe, expect, test } from '@jest/globals';
import { ImportFault } from '../files/import-fault.ts';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { isHosts, mapDnsmasq, mapHosts } from './map-dnsmasq.ts';

const filesOf = (text: string) => new Map([[ONLY_TEXT, Buffer.from(text)]]);

describe('isHosts()', () => {
  test.each([
    ['192.0.2.1 nas.example\n# why\n\n', true],
    ['192.0.2.1 nas.example\nserver=192.0.2.53\n', false],
    ['# why\n', false],
  ])('for %j is %s', (text, expected) => {
    expect(isHosts(filesOf(text))).toBe(expected);
  });
});

describe('mapHosts()', () => {
  test('reports a line without an address and name by its line number, without its text', () => {
    const plan = mapHosts(filesOf('192.0.2.1 nas.example\n\npassword=hunter2\n'));
    expect(plan.document.local_records).toMatchObject([{ value: '192.0.2.1' }]);
    expect(plan.items).toContainEqual(expect.objectContaining({ name: 'line 3', result: 'not_mapped' }));
    expect(JSON.stringify(plan)).not.toContain('hunter2');
  });

  test('refuses a file in which most lines have no address and name', () => {
    expect(() => mapHosts(filesOf('192.0.2.1 nas.example\na=b\nc=d\n'))).toThrow(ImportFault);
  });
});

describe('mapDnsmasq()', () => {
  test('reports that resolv.conf is missing, unless the option no-resolv is set', () => {
    const namesOf = (text: string) => mapDnsmasq(filesOf(text)).items.map(({ name }) => name);
    expect(namesOf('server=192.0.2.53\n')).toContain('/etc/resolv.conf');
    expect(namesOf('no-resolv\nserver=192.0.2.53\n')).not.toContain('/etc/resolv.conf');
  });
});
