import { expect, test } from '@jest/globals';
import { ONLY_TEXT } from '../files/open-upload.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { reportBlockyRest } from './blocky-rest.ts';
import { readBlocky } from './read-blocky.ts';

/** The rows of a file as result and reason by name. */
function rowsOf(text: string): Record<string, string> {
  const builder = new PlanBuilder();
  reportBlockyRest(builder, readBlocky(new Map([[ONLY_TEXT, Buffer.from(text)]])).file);
  const { items } = builder.finish('blocky');
  return Object.fromEntries(items.map(({ name, result, reason }) => [name, `${result}: ${reason}`]));
}

test('reportBlockyRest() reports a key separately from its section, and does not report a key that is imported', () => {
  expect(
    rowsOf('blocking: {blockTTL: 1}\ndnssec: {validate: true, trustAnchors: [x], cacheSize: 1}\n'),
  ).toEqual({
    'dnssec.trustAnchors': 'not_mapped: set dns.dnssec_trust_anchors to a file with them',
    'dnssec.cacheSize': 'skipped: it only affects how the other program runs',
  });
  expect(rowsOf('blocking: {blockTTL: 1}\nrebindingProtection: {enable: true}\n')).toEqual({});
});

test('reportBlockyRest() lists unknown keys one by one, and disabled ones as skipped', () => {
  expect(rowsOf('blocking: {blockTTL: 1}\nodd: 1\nnew: {a: 1, b: false}\nconstructor: {c: 1}\n')).toEqual({
    odd: 'not_mapped: Weir has no such setting',
    'new.a': 'not_mapped: Weir has no such setting',
    'new.b': 'skipped: it is disabled in the file',
    'constructor.c': 'not_mapped: Weir has no such setting',
  });
});

test('reportBlockyRest() reports that lists with a schedule always apply, and schedules that no list uses', () => {
  const file = 'blocking: {schedules: {night: {}, noon: {}}, listSchedules: {kids: [night]}}\n';
  expect(rowsOf(file)).toEqual({
    'blocking.listSchedules kids': expect.stringMatching(/^differs: .* at the times of night,/),
    'blocking.schedules noon': 'skipped: no list uses it',
  });
});
