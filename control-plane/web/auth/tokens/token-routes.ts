/** HTTP routes of `{api}/api-tokens`. */
import { IdParams } from '../../../../shared/api/fields.ts';
import {
  ApiToken,
  ApiTokenList,
  CreatedToken,
  TokenCreateBody,
  TokenUpdateBody,
} from '../../../../shared/api/tokens-api.ts';
import { entity } from '../../../api/entity.ts';
import { authorOf, route } from '../../../api/route.ts';
import type { Route } from '../../../api/route.ts';
import type { ApiTokens } from './api-tokens.ts';
import { existingToken } from './token-store.ts';
import type { StoredToken } from './token-store.ts';

const TAG = 'API tokens';

const apiToken = entity({
  path: '/api-tokens/{id}',
  params: IdParams,
  answer: ApiToken,
  body: TokenUpdateBody,
  read: async (db, { id }) => toApiToken(await existingToken(db, id)),
  covers: ({ prefix }) => ({ prefix }),
});

/** The routes of API tokens. */
export function tokenRoutes({ tokens }: { tokens: ApiTokens }): Route[] {
  return [
    listTokens(tokens),
    readToken(tokens),
    createToken(tokens),
    updateToken(tokens),
    deleteToken(tokens),
  ];
}

function listTokens(tokens: ApiTokens): Route {
  return route({
    method: 'GET',
    path: '/api-tokens',
    access: 'admin',
    tag: TAG,
    summary: 'All API tokens, each with the first characters of its key',
    answer: ApiTokenList,
    handle: async () => (await tokens.list()).map(toApiToken),
  });
}

function readToken(tokens: ApiTokens): Route {
  return route({
    method: 'GET',
    path: '/api-tokens/{id}',
    access: 'admin',
    tag: TAG,
    summary: 'One API token, with the first characters of its key',
    params: IdParams,
    answer: ApiToken,
    entity: apiToken,
    handle: async ({ params }) => toApiToken(await tokens.read(params.id)),
  });
}

function createToken(tokens: ApiTokens): Route {
  return route({
    method: 'POST',
    path: '/api-tokens',
    access: 'admin',
    tag: TAG,
    summary: 'Create an API token; only this response contains its key',
    body: TokenCreateBody,
    status: 201,
    answer: CreatedToken,
    entity: apiToken,
    errors: { 409: 'there are too many API tokens' },
    handle: async (request) => {
      const { token, key } = await tokens.create(authorOf(request), request.body);
      return { ...toApiToken(token), key };
    },
  });
}

function updateToken(tokens: ApiTokens): Route {
  return route({
    method: 'PUT',
    path: '/api-tokens/{id}',
    access: 'admin',
    tag: TAG,
    summary:
      'Change the name or role of a token, or import a key that programs already use; absent fields keep their value',
    params: IdParams,
    body: TokenUpdateBody,
    answer: ApiToken,
    entity: apiToken,
    errors: { 409: 'another token has this key' },
    handle: async (request) => {
      const { params, body } = request;
      return toApiToken(await tokens.update(authorOf(request), params.id, body));
    },
  });
}

function deleteToken(tokens: ApiTokens): Route {
  return route({
    method: 'DELETE',
    path: '/api-tokens/{id}',
    access: 'admin',
    tag: TAG,
    summary: 'Revoke an API token, and end the sessions that were opened with it',
    params: IdParams,
    entity: apiToken,
    handle: (request) => tokens.remove(authorOf(request), request.params.id),
  });
}

function toApiToken(token: StoredToken): ApiToken {
  return {
    id: token.id,
    name: token.name,
    prefix: token.prefix,
    role: token.role,
    created_at: token.createdAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
  };
}
