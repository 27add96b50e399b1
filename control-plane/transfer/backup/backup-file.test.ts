import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  api,
  backUp,
  backUpOpenly,
  content,
  EMPTY,
  fill,
  make,
  send,
  serveBackups,
} from '../../../test/support/parts/backup-suite.ts';

serveBackups();

describe('a backup', () => {
  beforeEach(() => fill());

  test('contains no secrets unless requested, and its restore keeps the stored secrets', async () => {
    const hidden = await backUpOpenly();
    expect(JSON.stringify(hidden)).not.toContain('hunter2');
    expect(hidden).toMatchObject({
      has_secrets: false,
      list_sources: [{ url: 'https://***@lists.example/ads' }, {}],
    });
    expect(JSON.stringify(await backUp())).toContain('hunter2');
    await make('POST', '/restore', EMPTY);
    const refused = await send(hidden);
    expect(refused.problem.errors!.map(({ path }) => path)).toEqual([
      'list_sources.0.url',
      'list_sources.1.url',
    ]);
  });
});

describe('a hostile backup file', () => {
  const record = { hostname: 'a', domain: 'b.test', record_type: 'A', value: '192.0.2.1' };

  test.each<[string, object, string]>([
    ['a newer version', { version: 3 }, 'version'],
    ['another format', { format: 'tar' }, 'format'],
    ['an unknown kind', { tokens: [] }, 'tokens'],
    [
      'an unknown field',
      { managed_domains: [{ name: 'a', domain: 'a.example', id: 7 }] },
      'managed_domains.0.id',
    ],
    ['a bad domain', { managed_domains: [{ name: 'a', domain: '-' }] }, 'managed_domains.0.domain'],
    [
      'a pattern that cannot be matched in linear time',
      { regex_filters: [{ name: 'a', pattern: '(a)\\1' }] },
      'regex_filters.0.pattern',
    ],
    [
      'a reference to an unknown group',
      { client_subnets: [{ subnet_cidr: '192.0.2.0/24', group: 'x' }] },
      'client_subnets.0.group',
    ],
    [
      'a list for an unknown group',
      { list_sources: [{ kind: 'block', name: 'a', url: 'http://a.example/', groups: ['x'] }] },
      'list_sources.0.groups',
    ],
    [
      'a list file outside the list folders',
      { list_sources: [{ kind: 'block', name: 'a', url: 'file:///etc/passwd' }] },
      'list_sources.0.url',
    ],
    [
      'an unknown service',
      { blocked_services: [{ service_id: 'custom-x', group: 'Default' }] },
      'blocked_services.0.service_id',
    ],
    [
      'an unknown schedule profile',
      { group_schedules: [{ group: 'Default', profile: 'x' }] },
      'group_schedules.0.profile',
    ],
    [
      'two groups with the same name',
      { groups: [{ name: 'Default', is_default: true }, { name: 'DEFAULT' }] },
      'groups.1',
    ],
    ['no default group', { groups: [{ name: 'a' }] }, 'groups'],
    ['a disabled default group', { groups: [{ name: 'a', is_default: true, enabled: false }] }, 'groups'],
    ['two equal records', { local_records: [record, { ...record, ttl: 5 }] }, 'local_records.1'],
    [
      'a local record with an invalid value',
      { local_records: [{ ...record, value: 'x' }] },
      'local_records.0.value',
    ],
    [
      'an invalid upstream server',
      { forward_zones: [{ zone: 'a.example', servers: ['x y'] }] },
      'forward_zones.0.servers.0',
    ],
    ['a client without an identifier', { clients: [{ name: 'x' }] }, 'clients.0.ip_address'],
    [
      'an empty time slot',
      {
        schedule_profiles: [
          {
            name: 'a',
            timezone: 'UTC',
            slots: [{ days: 1, start_time: '01:00', end_time: '01:00', action: 'block_all' }],
          },
        ],
      },
      'schedule_profiles.0.slots.0.end_time',
    ],
    ['a lone surrogate', { groups: [{ name: '\ud800', is_default: true }] }, 'groups.0.name'],
  ])(
    'with %s is refused with 400, which names the place, and changes nothing',
    async (_what, change, path) => {
      const before = content(await backUpOpenly());
      const answer = await send({ ...EMPTY, ...change });
      expect([answer.status, answer.problem.errors?.[0]?.path]).toEqual([400, path]);
      expect(content(await backUpOpenly())).toEqual(before);
    },
  );

  test('with keys such as __proto__ is refused with 400, and changes no object prototype', async () => {
    const raw = JSON.stringify(EMPTY).replace(
      '{',
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{}},',
    );
    const answer = await api.send('POST', '/api/restore', {
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.problem.errors!.map(({ path }) => path)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('with a hundred thousand faults is refused with 400, which names the first thousand', async () => {
    const domains = Array.from({ length: 100_000 }, () => ({ name: 'a', domain: 'same.example' }));
    const answer = await send({ ...EMPTY, managed_domains: domains });
    expect([answer.status, answer.problem.errors!.length]).toEqual([400, 1000]);
    const bad = await send({ ...EMPTY, managed_domains: domains.map(() => ({ domain: '-' })) });
    expect([bad.status, bad.problem.errors!.length]).toEqual([400, 1000]);
  });

  test('is accepted if it is large, and two concurrent restores are not mixed', async () => {
    const many = (tag: string): unknown => ({
      ...EMPTY,
      managed_domains: Array.from({ length: 300 }, (_, n) => ({ name: tag, domain: `${tag}${n}.example` })),
    });
    const answers = await Promise.all([send(many('a')), send(many('b'))]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const { managed_domains: domains } = await backUpOpenly();
    expect(domains).toHaveLength(300);
    expect(new Set(domains!.map(({ name }) => name)).size).toBe(1);
  });
});
