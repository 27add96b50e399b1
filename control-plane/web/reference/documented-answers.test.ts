import { describe, expect, test } from '@jest/globals';
import { IdParams } from '../../../shared/api/fields.ts';
import { GroupCreateBody } from '../../../shared/api/policy/groups-api.ts';
import type { Access } from '../../api/route-access.ts';
import { route } from '../../api/route.ts';
import { answersOf } from './documented-answers.ts';

const row = { path: '/things', tag: 'Things', summary: 'Of a thing', handle: () => undefined } as const;

/** Statuses with their descriptions. */
function textsOf(answers: ReturnType<typeof answersOf>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description }]) => [status, description]),
  );
}

describe('answersOf(), which returns the documented responses of a route,', () => {
  test('contains the errors that follow from the access rights of the route', () => {
    const statuses = (access: Access): string[] =>
      Object.keys(answersOf(route({ ...row, method: 'GET', access }))).sort();
    expect(statuses('public')).toEqual(['204', '400', '421', '429', '503']);
    expect(statuses('member')).toEqual(['204', '400', '401', '421', '429', '503']);
    for (const access of ['family', 'viewer', 'admin'] as const)
      expect(statuses(access)).toEqual(['204', '400', '401', '403', '421', '429', '503']);
  });

  test('explains why a change may be rejected, even if the route has no body', () => {
    const plain = textsOf(answersOf(route({ ...row, method: 'POST', access: 'member' })));
    expect([plain['403'], plain['413'], plain['415']]).toEqual([
      'a browser sent the request from another origin',
      'the body is too large',
      'the body is not JSON',
    ]);
    const full = textsOf(
      answersOf(
        route({
          ...row,
          method: 'PUT',
          access: 'admin',
          params: IdParams,
          body: GroupCreateBody,
          errors: { 409: 'taken' },
        }),
      ),
    );
    expect([full['403'], full['404'], full['409'], full['415']]).toEqual([
      'the role is not admin, or a browser sent the request from another origin',
      'the entity does not exist',
      'taken',
      'the body is not JSON',
    ]);
  });
});
