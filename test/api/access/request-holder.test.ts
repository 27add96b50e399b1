/** The user or token on whose behalf a request is handled, for limits per user. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { requestHolder } from '../../../control-plane/api/request-holder.ts';
import { route } from '../../../control-plane/api/route.ts';
import { authRoutes } from '../../../control-plane/web/auth/auth-routes.ts';
import { tokenRoutes } from '../../../control-plane/web/auth/tokens/token-routes.ts';
import { userRoutes } from '../../../control-plane/web/auth/accounts/user-routes.ts';
import { OpenApiAnswer } from '../../../shared/api/zod.ts';
import { logInAs, makeToken, makeUser, withKey } from '../../support/parts/people.ts';
import type { RunningApi } from '../../support/parts/running-api.ts';
import { serveSuite } from '../../support/parts/served-suite.ts';

let api: RunningApi;
serveSuite(
  (parts) => [
    ...authRoutes(parts),
    ...userRoutes(parts),
    ...tokenRoutes(parts),
    route({
      ...{ method: 'GET', path: '/holder', access: 'viewer', tag: 'Things', summary: 'Of a request' },
      answer: OpenApiAnswer,
      handle: async () => {
        await setImmediate();
        return { openapi: '3.1.0' as const, holder: requestHolder() };
      },
    }),
  ],
  (served) => ({ api } = served),
  { toml: '' },
);

test('concurrent requests are each handled with the user or token that sent them', async () => {
  await api.setUp();
  const admin = await api.logIn();
  await makeUser(api, admin, { username: 'vera' });
  const { key } = await makeToken(api, admin, { name: 'Grafana' });
  const answers = await Promise.all([
    api.send('GET', '/api/holder', { session: admin }),
    api.send('GET', '/api/holder', { session: await logInAs(api, 'vera') }),
    withKey(api, 'GET', '/holder', key),
  ]);
  expect(answers.map(({ body }) => (body as { holder: string }).holder)).toEqual([
    ...['admin', 'vera', 'token Grafana'],
  ]);
  expect(requestHolder()).toBeNull();
});
