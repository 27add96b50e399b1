/** Cases that the document does not describe: requests that reach a success or a refusal of one operation. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_TEXT_BYTES } from '../../../shared/api/policy/custom-text-api.ts';
import { makeSelfSigned } from '../../../control-plane/web/tls/self-signed.ts';
import { logRow } from '../../support/parts/log-row.ts';
import { storeRows } from '../../support/parts/stored-log.ts';
import { PASSWORD, sessionCookie } from '../../support/parts/running-api.ts';
import type { TestAnswer } from '../../support/parts/running-api.ts';
import type { MemorySources } from '../../support/parts/memory-sources.ts';
import { SECOND_FACTOR_REFUSALS, SECOND_FACTOR_SUCCESSES } from './second-factor-cases.ts';
import type { Ask, Provoke, WalkedApi } from './walked-api.ts';

/** Addresses that are each used by a single step, because the lockout counts by address. */
const GUESSER = { 'x-forwarded-for': '192.0.2.66' };
const OTHER_GUESSER = { 'x-forwarded-for': '192.0.2.67' };

async function newSession(walk: WalkedApi): Promise<string> {
  const json = { username: 'admin', password: PASSWORD };
  return sessionCookie(await walk.ask('POST /auth/login', { json }))!.secret;
}

async function guess(walk: WalkedApi, name: string, json: object, headers: Record<string, string>) {
  let answer: TestAnswer;
  let tries = 0;
  do answer = await walk.ask(name, { json, headers });
  while (answer.status === 401 && ++tries < 10);
  return answer;
}

/**
 * Requests that succeed, for operations for which the example in the document, sent to an entity of the collection, is
 * not enough.
 */
export const SUCCESSES: Readonly<Record<string, Provoke>> = {
  ...SECOND_FACTOR_SUCCESSES,
  'POST /auth/setup': async (walk) => walk.note('POST /auth/setup', walk.setup),
  'POST /auth/login': (walk) =>
    walk.ask('POST /auth/login', { json: { username: 'admin', password: PASSWORD } }),
  'POST /auth/logout': async (walk) => walk.ask('POST /auth/logout', { session: await newSession(walk) }),
  'POST /auth/change-password': async (walk) =>
    walk.ask('POST /auth/change-password', {
      session: walk.session,
      json: { current_password: PASSWORD, new_password: PASSWORD },
    }),
  'DELETE /auth/sessions/{id}': async (walk) => {
    const session = await newSession(walk);
    const { body } = await walk.ask('GET /auth/sessions', { session });
    const { id } = (body as { id: number; current: boolean }[]).find(({ current }) => current)!;
    return walk.ask('DELETE /auth/sessions/{id}', { params: { id } });
  },
  'PUT /services/{service_id}/groups/{group_id}': async (walk) => {
    await walk.askWithExample('POST /services');
    const params = { service_id: 'netflix', group_id: walk.groupId };
    return walk.askWithExample('PUT /services/{service_id}/groups/{group_id}', { params });
  },
  'GET /services/{service_id}/groups/{group_id}': async (walk) => {
    await walk.askWithExample('POST /services');
    const params = { service_id: 'netflix', group_id: walk.groupId };
    return walk.ask('GET /services/{service_id}/groups/{group_id}', { params });
  },
  'GET /schedule-profiles/{id}/slots/{slot_id}': async (walk) => {
    const id = await walk.entityOf('/schedule-profiles');
    const { body } = await walk.askWithExample('POST /schedule-profiles/{id}/slots', { params: { id } });
    const params = { id, slot_id: (body as { id: number }).id };
    return walk.ask('GET /schedule-profiles/{id}/slots/{slot_id}', { params });
  },
  'GET /users/{id}': (walk) => walk.ask('GET /users/{id}', { params: { id: 1 } }),
  'GET /auth/sessions/{id}': async (walk) => {
    const { body } = await walk.ask('GET /auth/sessions');
    const { id } = (body as { id: number; current: boolean }[]).find(({ current }) => current)!;
    return walk.ask('GET /auth/sessions/{id}', { params: { id } });
  },
  'POST /queries/clears': (walk) => walk.ask('POST /queries/clears', { json: {} }),
  'GET /queries/{id}': async (walk) => {
    await storeRows(walk.api.parts.database, [logRow({ timestampMs: walk.api.clock.nowMs() })]);
    const { body } = await walk.ask('GET /queries');
    const [{ id }] = (body as { data: [{ id: number }] }).data;
    return walk.ask('GET /queries/{id}', { params: { id } });
  },
  'GET /nodes/{node}': async (walk) => {
    await walk.api.parts.database.query(
      `INSERT INTO nodes (id, name, last_seen) VALUES (9, 'branch', now()) ON CONFLICT DO NOTHING`,
    );
    return walk.ask('GET /nodes/{node}', { params: { node: 'branch' } });
  },
  'GET /audit-log/{id}': async (walk) => {
    const { body } = await walk.ask('GET /audit-log', { query: '?limit=1' });
    const [{ id }] = (body as { data: [{ id: number }] }).data;
    return walk.ask('GET /audit-log/{id}', { params: { id } });
  },
  'DELETE /services/{service_id}/groups/{group_id}': async (walk) => {
    await walk.askWithExample('POST /services');
    const params = { service_id: 'netflix', group_id: walk.groupId };
    return walk.ask('DELETE /services/{service_id}/groups/{group_id}', { params });
  },
  'DELETE /nodes/{node}': (walk) => walk.ask('DELETE /nodes/{node}', { params: { node: 'gone' } }),
  'DELETE /custom-services/{service_id}': async (walk) =>
    walk.ask('DELETE /custom-services/{service_id}', {
      params: { service_id: await walk.entityOf('/custom-services') },
      query: '?force=true',
    }),
  'DELETE /schedule-profiles/{id}/slots/{slot_id}': async (walk) => {
    const id = await walk.entityOf('/schedule-profiles');
    const slot = await walk.askWithExample('POST /schedule-profiles/{id}/slots', { params: { id } });
    const params = { id, slot_id: (slot.body as { id: number }).id };
    return walk.ask('DELETE /schedule-profiles/{id}/slots/{slot_id}', { params });
  },
  'GET /groups/{id}/schedule': async (walk) => {
    await setSchedule(walk);
    return walk.ask('GET /groups/{id}/schedule', { params: { id: walk.groupId } });
  },
  'PUT /groups/{id}/schedule': setSchedule,
  'DELETE /groups/{id}/schedule': async (walk) => {
    await setSchedule(walk);
    return walk.ask('DELETE /groups/{id}/schedule', { params: { id: walk.groupId } });
  },
  'POST /revisions/{id}/rollback': async (walk) => {
    await walk.askWithExample('POST /regex-filters', {}, { pattern: '^walk' });
    const { body } = await walk.ask('GET /revisions');
    const [newest] = body as { id: number }[];
    return walk.ask('POST /revisions/{id}/rollback', { params: { id: newest!.id } });
  },
  'GET /revisions/{id}': async (walk) => {
    await walk.askWithExample('POST /regex-filters', {}, { pattern: '^revision' });
    const { body } = await walk.ask('GET /revisions');
    const [newest] = body as { id: number }[];
    return walk.ask('GET /revisions/{id}', { params: { id: newest!.id } });
  },
  'POST /backup': (walk) => walk.ask('POST /backup', { json: { passphrase: 'correct horse battery' } }),
  'POST /restore': async (walk) => {
    const { body } = await walk.ask('GET /backup');
    return walk.ask('POST /restore', { json: body as object });
  },
  'POST /tls/upload': async (walk) => {
    const { cert, key } = await makeSelfSigned(['node-a'], walk.api.clock.nowMs());
    return walk.ask('POST /tls/upload', formOf({ cert, key }));
  },
  'POST /import': (walk) =>
    walk.ask('POST /import', { raw: 'a file', headers: { 'content-type': 'application/octet-stream' } }),
  'POST /managed-domains/bulk': (walk) =>
    walk.ask('POST /managed-domains/bulk', { json: { create: [{ domain: 'many.example.org' }] } }),
  'POST /regex-filters/bulk': (walk) =>
    walk.ask('POST /regex-filters/bulk', { json: { create: [{ pattern: '^many' }] } }),
  'POST /clients/bulk': (walk) => walk.ask('POST /clients/bulk', { json: { create: [] } }),
  'POST /clients/acknowledge': async (walk) =>
    walk.ask('POST /clients/acknowledge', { json: { client_ids: [await walk.entityOf('/clients')] } }),
  'POST /clients/{id}/merge': async (walk) => (await merged(walk, 1)).answer,
  'POST /clients/{id}/split': async (walk) => {
    const { part } = await merged(walk, 2);
    return walk.ask('POST /clients/{id}/split', { params: { id: part } });
  },
  'POST /local-records/bulk': (walk) =>
    walk.ask('POST /local-records/bulk', {
      json: { create: [{ fqdn: 'many.home.arpa', value: '192.0.2.7' }] },
    }),
  'GET /unblock-requests/{id}': async (walk) =>
    walk.ask('GET /unblock-requests/{id}', { params: { id: await unblockRequest(walk) } }),
  'DELETE /unblock-requests/{id}': async (walk) =>
    walk.ask('DELETE /unblock-requests/{id}', { params: { id: await unblockRequest(walk) } }),
  'GET /explain': (walk) => walk.ask('GET /explain', { query: '?domain=ads.example.org' }),
};

/** An open request of a new client to unblock a name. */
async function unblockRequest(walk: WalkedApi): Promise<number> {
  const { rows } = await walk.api.parts.database.query<{ id: number }>(
    `WITH made AS (INSERT INTO clients (client_key) VALUES (replace(gen_random_uuid()::text, '-', '')) RETURNING id)
     INSERT INTO unblock_requests (client_id, domain, created_at) SELECT id, 'a.example', $1 FROM made RETURNING id`,
    [new Date(walk.api.clock.nowMs())],
  );
  return rows[0]!.id;
}

/** A form with files, as curl sends it. */
function formOf(files: Readonly<Record<string, string>>): Ask {
  const boundary = 'weir-walk';
  const parts = Object.entries(files).map(
    ([name, content]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a.pem"\r\n\r\n${content}\r\n`,
  );
  return {
    raw: `${parts.join('')}--${boundary}--\r\n`,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

async function setSchedule(walk: WalkedApi): Promise<TestAnswer> {
  const profile = await walk.entityOf('/schedule-profiles');
  const params = { id: walk.groupId };
  return walk.ask('PUT /groups/{id}/schedule', { params, json: { profile_id: profile } });
}

/** Creates a second entity, then changes it to a value that the first has. */
function taken(collection: string, method: 'PUT' | 'PATCH', other: object, key: string): Provoke {
  const item = collection === '/custom-services' ? '{service_id}' : '{id}';
  return async (walk) => {
    await walk.entityOf(collection);
    const example = walk.exampleOf(`POST ${collection}`) as Record<string, unknown>;
    const made = await walk.askWithExample(`POST ${collection}`, {}, other);
    const { id, service_id: serviceId } = made.body as { id?: number; service_id?: string };
    return walk.ask(`${method} ${collection}/${item}`, {
      params: { id: id ?? 0, service_id: serviceId ?? '' },
      json: { [key]: example[key] },
    });
  };
}

/** Sends the example of an operation again, after its rows were created. */
function twice(name: string): Provoke {
  return async (walk) => {
    await walk.askWithExample(name);
    return walk.askWithExample(name);
  };
}

/** Refusals by operation and status that do not follow from the document. */
export function refusalsOf(sources: MemorySources): Readonly<Record<string, Provoke>> {
  const places = ['/blocklist-sources', '/allowlist-sources', '/whitelist-sources'];
  const ofSources = places.flatMap((place): [string, Provoke][] => [
    [`PUT ${place}/{id} 409`, taken(place, 'PUT', { url: `https://other.example.org${place}` }, 'url')],
    [
      `POST ${place}/{id}/approve 200`,
      async (walk) => {
        const id = await walk.entityOf(place);
        sources.hold(Number(id));
        return walk.ask(`POST ${place}/{id}/approve`, { params: { id } });
      },
    ],
    [
      `GET ${place}/{id}/text 200`,
      async (walk) => walk.ask(`GET ${place}/{id}/text`, await customOf(walk, place)),
    ],
    [`PUT ${place}/{id}/text 200`, (walk) => writeText(walk, place, {})],
    [
      `PUT ${place}/{id}/text 404`,
      (walk) =>
        walk.ask(`PUT ${place}/{id}/text`, {
          params: { id: 2_000_000_000 },
          raw: 'a.example',
          headers: { 'content-type': 'text/plain' },
        }),
    ],
    [`PUT ${place}/{id}/text 412`, (walk) => writeText(walk, place, { 'if-match': '"other"' })],
    [`PUT ${place}/{id}/text 413`, (walk) => writeText(walk, place, {}, 'x'.repeat(MAX_TEXT_BYTES + 1))],
    [`PUT ${place}/{id}/text 415`, (walk) => writeText(walk, place, { 'content-type': 'text/html' })],
    [
      `POST ${place}/{id}/refresh 409`,
      async (walk) => walk.ask(`POST ${place}/{id}/refresh`, await customOf(walk, place)),
    ],
    [
      `POST ${place}/{id}/approve 409`,
      async (walk) => walk.ask(`POST ${place}/{id}/approve`, { params: { id: await walk.entityOf(place) } }),
    ],
  ]);
  return { ...REFUSALS, ...Object.fromEntries(ofSources) };
}

/** Two clients, one of which was merged into the other. */
async function merged(
  walk: WalkedApi,
  serial: number,
): Promise<{ main: number; part: number; answer: TestAnswer }> {
  const make = async (address: string): Promise<number> => {
    const { body } = await walk.ask('POST /clients', { json: { ip_address: address } });
    return (body as { id: number }).id;
  };
  const [main, part] = [await make(`192.0.2.${100 + serial}`), await make(`192.0.2.${200 + serial}`)];
  const answer = await walk.ask('POST /clients/{id}/merge', {
    params: { id: main },
    json: { client_ids: [part] },
  });
  return { main, part, answer };
}

/** The source for custom rules in a collection. */
async function customOf(walk: WalkedApi, place: string): Promise<{ params: { id: number } }> {
  const { body } = await walk.ask(`POST ${place}`, { json: { name: 'own', text: 'a.example' } });
  return { params: { id: (body as { id: number }).id } };
}

async function writeText(
  walk: WalkedApi,
  place: string,
  headers: Record<string, string>,
  raw = '||b.example^',
): Promise<TestAnswer> {
  const own = await customOf(walk, place);
  return walk.ask(`PUT ${place}/{id}/text`, {
    ...own,
    raw,
    headers: { 'content-type': 'text/plain', ...headers },
  });
}

/** Sends the request while the configuration file differs or is missing. */
function withFile(text: string | null, name: string, json?: object): Provoke {
  return async (walk) => {
    const path = join(walk.api.folder, 'weir.toml');
    const before = await readFile(path, 'utf8');
    if (text === null) await rm(path);
    else await writeFile(path, text);
    try {
      return await walk.ask(name, json === undefined ? {} : { json });
    } finally {
      await writeFile(path, before);
    }
  };
}

const REFUSALS: Readonly<Record<string, Provoke>> = {
  ...SECOND_FACTOR_REFUSALS,
  'PATCH /config 409': withFile(null, 'PATCH /config', { blocking: { ttl_secs: 7 } }),
  'POST /config 409': withFile(null, 'POST /config', { blocking: { ttl_secs: 7 } }),
  'POST /config/reload 400': withFile('blocking = 1', 'POST /config/reload'),
  'POST /config/reload 409': withFile(null, 'POST /config/reload'),
  'POST /settings 409': withFile(null, 'POST /settings', { local_domain: 'a.test' }),
  'PUT /settings 409': withFile(null, 'PUT /settings', { local_domain: 'a.test' }),
  'POST /auth/setup 403': (walk) => walk.ask('POST /auth/setup', { json: { password: PASSWORD } }),
  'POST /auth/login 401': (walk) =>
    walk.ask('POST /auth/login', { json: { username: 'admin', password: 'wrong' } }),
  'POST /auth/login 429': (walk) =>
    guess(walk, 'POST /auth/login', { username: 'mallory', password: 'wrong' }, GUESSER),
  'POST /auth/change-password 429': (walk) =>
    guess(
      walk,
      'POST /auth/change-password',
      { current_password: 'wrong', new_password: PASSWORD },
      OTHER_GUESSER,
    ),
  'PUT /groups/{id} 409': async (walk) =>
    walk.ask('PUT /groups/{id}', {
      params: { id: await walk.entityOf('/groups') },
      json: { name: 'Default' },
    }),
  'POST /managed-domains/bulk 409': twice('POST /managed-domains/bulk'),
  'POST /regex-filters/bulk 409': twice('POST /regex-filters/bulk'),
  'POST /clients/bulk 409': twice('POST /clients/bulk'),
  'POST /local-records/bulk 409': twice('POST /local-records/bulk'),
  'DELETE /groups/{id} 409': (walk) => walk.ask('DELETE /groups/{id}', { params: { id: 1 } }),
  'PUT /clients/{id}/group 409': async (walk) => {
    const { part } = await merged(walk, 3);
    return walk.ask('PUT /clients/{id}/group', { params: { id: part }, json: { group_id: 1 } });
  },
  'GET /clients/{id}/phone-setup 409': async (walk) => {
    const { body } = await walk.ask('POST /clients', { json: { ip_address: '192.0.2.250' } });
    return walk.ask('GET /clients/{id}/phone-setup', { params: { id: (body as { id: number }).id } });
  },
  'POST /clients/{id}/merge 409': async (walk) => {
    const { main, part } = await merged(walk, 4);
    return walk.ask('POST /clients/{id}/merge', { params: { id: part }, json: { client_ids: [main] } });
  },
  'POST /clients/{id}/split 409': async (walk) => {
    const { main } = await merged(walk, 5);
    return walk.ask('POST /clients/{id}/split', { params: { id: main } });
  },
  'PATCH /clients/{id} 409': taken(
    '/clients',
    'PATCH',
    { mac_address: '02:00:5e:10:00:99', ip_address: '192.0.2.99', client_key: 'other' },
    'mac_address',
  ),
  'PUT /managed-domains/{id} 409': taken(
    '/managed-domains',
    'PUT',
    { domain: 'other.example.org' },
    'domain',
  ),
  'PUT /regex-filters/{id} 409': taken('/regex-filters', 'PUT', { pattern: '^other' }, 'pattern'),
  'PUT /forward-zones/{id} 409': taken('/forward-zones', 'PUT', { zone: 'other.example.org' }, 'zone'),
  'PUT /local-records/{id} 409': taken('/local-records', 'PUT', { value: '192.0.2.99' }, 'value'),
  'POST /group-plans 409': twice('POST /group-plans'),
  'DELETE /group-plans/{id} 409': (walk) => walk.ask('DELETE /group-plans/{id}', { params: { id: 1 } }),
  'PUT /group-plans/{id} 409': async (walk) => {
    const id = await walk.entityOf('/group-plans');
    return walk.ask('PUT /group-plans/{id}', { params: { id }, json: { name: 'Guests', timezone: 'UTC' } });
  },
  'PUT /schedule-profiles/{id} 409': taken('/schedule-profiles', 'PUT', { name: 'Other' }, 'name'),
  'PATCH /custom-services/{service_id} 409': taken(
    '/custom-services',
    'PATCH',
    { name: 'Other games' },
    'name',
  ),
  'DELETE /custom-services/{service_id} 409': async (walk) => {
    const serviceId = await walk.entityOf('/custom-services');
    await walk.ask('POST /services', { json: { service_id: serviceId, group_id: walk.groupId } });
    return walk.ask('DELETE /custom-services/{service_id}', { params: { service_id: serviceId } });
  },
  'POST /tls/upload 413': (walk) =>
    walk.ask('POST /tls/upload', formOf({ cert: 'x'.repeat(3_000_000), key: 'x' })),
  'PUT /api-tokens/{id} 409': async (walk) => {
    const json = { key: 'imported-key-of-the-walk-0123456789abcdef' };
    let answer: TestAnswer | undefined;
    for (const name of ['first', 'second']) {
      const { body } = await walk.askWithExample('POST /api-tokens', {}, { name });
      answer = await walk.ask('PUT /api-tokens/{id}', { params: { id: (body as { id: number }).id }, json });
    }
    return answer!;
  },
  'GET /explain 404': (walk) => walk.ask('GET /explain', { query: '?query_id=4294967297' }),
  'POST /revisions/{id}/rollback 409': async (walk) => {
    const { body } = await walk.ask('GET /revisions');
    const { id } = (body as { id: number }[]).at(-1)!;
    return walk.ask('POST /revisions/{id}/rollback', { params: { id }, query: `?expected_head=${id}` });
  },
};

/** Documented statuses that the walk does not cause, with the reason, and the test that causes each. */
export const UNPROVOKED: Readonly<Record<string, string>> = {
  'POST /auth/change-password 409': 'needs a configuration file with a hash: auth-routes.test.ts',
  'POST /tls/upload 409': 'needs files that are links: tls-routes.test.ts',
  'POST /tls/acme 409': 'needs an order in progress: acme-routes.test.ts',
  'POST /tls/generate 409': 'needs an existing certificate: tls-routes.test.ts',
  'POST /api-tokens 409': 'needs more tokens than the walk has',
  'POST /restore 409': 'needs a backup that lacks an entity which uses a group: restore-backup.test.ts',
  'POST /import 413': 'needs a file of 128 MiB',
  'POST /grants 409': 'needs the maximum number of grants: grant-routes.test.ts',
  'POST /clients/allowed 409': 'needs a key that the environment sets: access-routes.test.ts',
  'GET /auth/status 503': 'answers from memory while the database is unreachable',
};
