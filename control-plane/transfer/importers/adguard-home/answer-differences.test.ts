import { describe, expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { mapAdguard } from './map-adguard.ts';
import { readAdguard } from './read-adguard.ts';

/** The names that each reported difference affects, by the name of its row. */
function rowsOf(text: string): Record<string, readonly string[] | undefined> {
  const files = new Map([[ONLY_TEXT, Buffer.from(`schema_version: 34\n${text}`)]]);
  const { items } = mapAdguard(readAdguard(files));
  return Object.fromEntries(
    items.flatMap(({ name, result, domains }) => (result === 'differs' ? [[name, domains]] : [])),
  );
}

describe('reportAnswers(), which reports different answers,', () => {
  test('lists hosts lines of custom rules, for the default blocking mode and for another one', () => {
    const rules =
      "user_rules: ['127.0.0.1 ads.example', '0.0.0.0 sink.example', '192.0.2.5 nas.lan', '192.0.2.6 both.lan', '2001:db8::6 both.lan']\n";
    expect(rowsOf(rules)).toEqual({
      'hosts lines with 127.0.0.1 or ::1': ['ads.example'],
      'names of hosts lines': ['nas.lan'],
    });
    expect(rowsOf(`${rules}filtering: {blocking_mode: nxdomain}\n`)).toEqual({
      'names of hosts lines': ['nas.lan', 'both.lan'],
    });
  });

  test.each([
    ["'||localhost^'", ['rules for localhost']],
    ["'127.0.0.1 localhost'", ['rules for localhost']],
    ["'@@||localhost^', '||localhost.example^'", []],
    [
      "'||a.example^$dnsrewrite=b.example', '||a.example^$dnsrewrite=192.0.2.1'",
      ['several $dnsrewrite for one name'],
    ],
    ["'||a.example^$dnsrewrite=192.0.2.2', '||a.example^$dnsrewrite=192.0.2.1'", []],
    [
      "'||a.example^$dnsrewrite=NOERROR;HTTPS;1 . ech=aGVsbG8='",
      ['||a.example^$dnsrewrite=NOERROR;HTTPS;1 . ech=aGVsbG8='],
    ],
    ["'||a.example^$dnsrewrite=NOERROR;HTTPS;1 . ech=aGVsbG8h'", []],
  ])('for the rules %s returns the differences %p', (rules, names) => {
    expect(Object.keys(rowsOf(`user_rules: [${rules}]\n`))).toEqual(names);
  });

  test('lists CNAMEs of rewrites, and blocked services whose answers do not follow the blocking mode', () => {
    const rewrites =
      'filtering: {rewrites: [{domain: a.lan, answer: nas.lan}, {domain: nas.lan, answer: 192.0.2.5}, ' +
      '{domain: b.lan, answer: far.example}]';
    expect(rowsOf(`${rewrites}, blocked_services: {ids: [tiktok]}}\n`)).toEqual({
      'aliases of rewrites': ['a.lan'],
      'answers of blocked services': [],
    });
    expect(rowsOf('filtering: {blocked_services: {ids: [tiktok]}, blocking_mode: nxdomain}\n')).toEqual({});
  });
});
