import { describe, expect, test } from '@jest/globals';
import type { LocalRecordType } from '../../../../shared/policy/local-record.ts';
import { PlanBuilder } from '../plan/plan-builder.ts';
import { ImportOutcomes } from './import-outcomes.ts';
import { type MergeInto, plannedThings } from './planned-things.ts';

const NOWHERE: MergeInto = {
  current: new Map(),
  files: [],
  configRecords: [],
  isService: () => true,
};

function thingsOf(add: (builder: PlanBuilder) => void, into: Partial<MergeInto> = {}) {
  const builder = new PlanBuilder();
  add(builder);
  const plan = builder.finish('hosts');
  const outcomes = new ImportOutcomes(plan, [], []);
  const things = plannedThings(plan, { ...NOWHERE, ...into }, outcomes);
  return { things, reasons: outcomes.report(true, null, null).items.map(({ reason }) => reason) };
}

const record =
  (name: string, type: LocalRecordType, value: string) =>
  (builder: PlanBuilder): void =>
    builder.record({ name, type, value }, builder.item('local_record', name));

describe('plannedThings()', () => {
  test('refuses records that contradict other records of the file, of Weir, or of its configuration', () => {
    const stored = [
      { fqdn: 'a.lan', record_type: 'A', value: '192.0.2.1' },
      { fqdn: 'www.lan', record_type: 'CNAME', value: 'a.lan' },
    ];
    const { things, reasons } = thingsOf(
      (builder) => {
        record('www.lan', 'CNAME', 'a.lan')(builder);
        record('a.lan', 'CNAME', 'b.lan')(builder);
        record('www.lan', 'A', '192.0.2.1')(builder);
        record('set.lan', 'CNAME', 'b.lan')(builder);
        record('x.lan', 'CNAME', 'y.lan')(builder);
        record('y.lan', 'CNAME', 'x.lan')(builder);
      },
      {
        current: new Map([['local_records', stored]]),
        configRecords: [{ fqdn: 'set.lan', type: 'A', value: '192.0.2.2', ttlSecs: 60 }],
      },
    );
    expect(things.get('local_records')!.map(({ item }) => item['fqdn'])).toEqual(['www.lan', 'x.lan']);
    expect(reasons).toEqual([
      null,
      'a.lan has other records, and an alias must be the only record of its name',
      'www.lan is already an alias',
      'set.lan has other records, and an alias must be the only record of its name',
      null,
      'the alias of y.lan would create a loop of aliases',
    ]);
  });

  test('uses the ID of a service that Weir knows, preferably the ID in the file', () => {
    const service = (serviceId: string, ownId: string | null) => (builder: PlanBuilder) =>
      builder.service({ serviceId, ownId, group: 'Default' }, builder.item('service', serviceId));
    const known = new Set(['one', 'two', 'own_two', 'own_three']);
    const { things, reasons } = thingsOf(
      (builder) => {
        service('one', null)(builder);
        service('two', 'own_two')(builder);
        service('three', 'own_three')(builder);
        service('four', 'own_four')(builder);
      },
      { isService: (id) => known.has(id) },
    );
    expect(things.get('blocked_services')!.map(({ item }) => item['service_id'])).toEqual([
      'one',
      'two',
      'own_three',
    ]);
    expect(reasons).toEqual([null, null, null, "Weir's catalog has no service four"]);
  });

  test('creates list sources for files of lists, and refuses them if no list directory is configured', () => {
    const list = { kind: 'block', name: 'ads', enabled: true, subdomains: false, groups: null } as const;
    const add = (builder: PlanBuilder): void =>
      builder.list({ ...list, fileName: 'ads.txt', text: 'a.example\n' }, [builder.item('blocklist', 'ads')]);
    expect(thingsOf(add).reasons).toEqual(['blocking.list_dirs contains no directory for the list']);
    const source = { ...list, comment: '', groups: [] };
    const file = { source, fileName: 'ads.txt', text: 'a.example\n', items: [0] };
    const { things, reasons } = thingsOf(add, {
      files: [{ ...file, path: '/lists/ads.txt', url: 'file:///lists/ads.txt', isSame: false }],
    });
    expect(things.get('list_sources')).toEqual([
      { item: { ...source, url: 'file:///lists/ads.txt', text: null }, origin: [0] },
    ]);
    expect(reasons).toEqual([null]);
  });
});
