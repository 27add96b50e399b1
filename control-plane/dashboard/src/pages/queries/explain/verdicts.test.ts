import { describe, expect, test } from '@jest/globals';
import { grantOf, madeBy, midnightAfter, ruleDomainOf, scopesOf, touches, usualFor } from './verdicts.ts';
import type { Grant, Verdict } from './verdicts.ts';

const grant: Grant = {
  id: 1,
  domain: 'example.org',
  service_id: null,
  service_name: null,
  subdomains: true,
  client_id: 7,
  group_id: null,
  action: 'allow',
  until: '2026-01-01T01:00:00.000Z',
  secs_left: 600,
  created_at: '2026-01-01T00:00:00.000Z',
};

describe('touches(), whether a grant affects a query,', () => {
  test('is true only for the client of the grant, at the granted name and its subdomains', () => {
    expect(touches(grant, 'Example.org', 7, 1)).toBe(true);
    expect(touches(grant, 'www.example.org', 7, 1)).toBe(true);
    expect(touches(grant, 'notexample.org', 7, 1)).toBe(false);
    expect(touches(grant, 'example.org', 8, 1)).toBe(false);
    expect(touches(grant, 'example.org', null, 1)).toBe(false);
  });

  test('is false for a grant of a service, whose names the dashboard does not know', () => {
    const service = { ...grant, domain: null, service_id: 'tube', service_name: 'Tube' };
    expect(touches(service, 'example.org', 7, 1)).toBe(false);
  });

  test('is true for every name if the grant is for all names of a group', () => {
    const all = { ...grant, domain: null, client_id: null, group_id: 2 };
    expect(touches(all, 'example.org', null, 2)).toBe(true);
    expect(touches(all, 'example.org', null, 1)).toBe(false);
  });
});

describe('touches() with grants for all clients', () => {
  test('is true only for the exact name if the grant excludes subdomains', () => {
    const one = { ...grant, client_id: null, subdomains: false };
    expect(touches(one, 'example.org', null, 1)).toBe(true);
    expect(touches(one, 'www.example.org', 7, 1)).toBe(false);
  });
});

describe('madeBy(), whether a decision becomes a rule or a grant,', () => {
  const verdict: Verdict = { action: 'allow', scope: 'everyone', span: 'ever', subdomains: true };
  test('is a rule for a permanent decision that applies to more than one client, if a rule can lift the block', () => {
    expect(madeBy(verdict, 'BLOCKED_LIST')).toBe('rule');
    expect(madeBy({ ...verdict, scope: 'group' }, 'BLOCKED_MANAGED')).toBe('rule');
    expect(madeBy({ ...verdict, action: 'block' }, 'ALLOWED')).toBe('rule');
    expect(madeBy(verdict, 'BLOCKED_SERVICE')).toBe('grant');
    expect(madeBy({ ...verdict, scope: 'client' }, 'BLOCKED_LIST')).toBe('grant');
    expect(madeBy({ ...verdict, span: 'midnight' }, 'BLOCKED_LIST')).toBe('grant');
    expect([true, false].map((subdomains) => ruleDomainOf({ subdomains }, 'a.example'))).toEqual([
      '*.a.example',
      'a.example',
    ]);
  });
});

describe('scopesOf(), the choices for whom a decision applies,', () => {
  const target = { domain: 'example.org', groupId: 1, status: 'BLOCKED_LIST' } as const;
  test('start with the client, and contain no client if the query has no client', () => {
    const asked = { ...target, client: '192.0.2.7', clientId: null };
    expect([scopesOf(asked)[0], usualFor(asked).scope]).toEqual(['client', 'client']);
    expect(scopesOf({ client: null, clientId: 7 })).toContain('client');
    const open = { ...target, client: null, clientId: null };
    expect([scopesOf(open), usualFor(open).scope]).toEqual([['group', 'everyone'], 'group']);
  });
});

describe('grantOf(), the grant that a decision creates,', () => {
  const now = new Date(2026, 0, 31, 22, 30);
  const WIDE = { subdomains: true };

  test('is for all clients and has no end by default', () => {
    expect(grantOf({ action: 'allow', span: 'ever', subdomains: false }, 'example.org', {}, now)).toEqual({
      ...{ action: 'allow', domain: 'example.org', subdomains: false },
    });
  });

  test('ends after the selected duration', () => {
    expect(grantOf({ ...WIDE, action: 'allow', span: 600 }, 'example.org', { client_id: 7 }, now)).toEqual({
      action: 'allow',
      domain: 'example.org',
      subdomains: true,
      client_id: 7,
      secs: 600,
    });
  });

  test('ends at the next local midnight', () => {
    const body = grantOf({ ...WIDE, action: 'block', span: 'midnight' }, 'example.org', { group_id: 2 }, now);
    expect(body.until).toBe(new Date(2026, 1, 1).toISOString());
    expect(midnightAfter(new Date(2026, 1, 1)).getDate()).toBe(2);
  });
});
