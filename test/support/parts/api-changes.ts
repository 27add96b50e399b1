/**
 * For every route that changes something: how to prepare it, and a request that succeeds. Suites that check a property
 * of all changes run all rows of this table, and fail if a route has no row. Imports and simulations have separate
 * suites.
 */
import type { Route } from '../../../control-plane/api/route.ts';
import { ACCESS_MUTATIONS } from './access-changes.ts';
import { everyRow } from './every-route.ts';
import type { Mutation, MutationFixture, Prepare } from './mutation-fixture.ts';

/** Creates an object at `path` and changes or deletes it. */
function entity(
  path: string,
  body: (serial: number, fixture: MutationFixture) => unknown,
  change: Record<string, unknown> | null,
  { update = 'PUT', key = 'id', createAt = path } = {},
): [string, Prepare][] {
  const make = async (fixture: MutationFixture, serial: number): Promise<string> =>
    `${path}/${String((await fixture.make('POST', createAt, body(serial, fixture)))[key])}`;
  const rows: [string, Prepare][] = [
    [`POST ${createAt}`, async (fixture, serial) => ({ path: createAt, json: body(serial, fixture) })],
    [`DELETE ${path}/{${key}}`, async (fixture, serial) => ({ path: await make(fixture, serial) })],
  ];
  if (change !== null)
    rows.push([
      `${update} ${path}/{${key}}`,
      async (fixture, serial) => ({ path: await make(fixture, serial), json: change }),
    ]);
  return rows;
}

const group = async ({ make }: MutationFixture, serial: number): Promise<number> =>
  Number((await make('POST', '/groups', { name: `group of ${serial}` }))['id']);
const client = async ({ make }: MutationFixture, serial: number): Promise<number> =>
  Number(
    (await make('POST', '/clients', { ip_address: `192.0.2.${serial % 250}`, name: `of ${serial}` }))['id'],
  );
const otherClient = async ({ make }: MutationFixture, serial: number): Promise<number> =>
  Number((await make('POST', '/clients', { ip_address: `2001:db8::${serial}` }))['id']);
const profile = async ({ make }: MutationFixture, serial: number): Promise<number> =>
  Number((await make('POST', '/schedule-profiles', { name: `of ${serial}`, timezone: 'UTC' }))['id']);
const SLOT = { days: 1, start_time: '01:00', end_time: '02:00', action: 'block_all' };

function ofSources(path: string): [string, Prepare][] {
  const body = (serial: number, fixture: MutationFixture): unknown => ({
    name: `list ${serial}`,
    url: fixture.listUrl(),
    enabled: false,
  });
  const source = async (fixture: MutationFixture, serial: number): Promise<number> =>
    Number((await fixture.make('POST', path, body(serial, fixture)))['id']);
  return [
    ...entity(path, body, { comment: 'changed' }),
    [
      `PUT ${path}/{id}/text`,
      async ({ make }, n) => {
        const { id } = await make('POST', path, { name: `rules ${n}`, text: '' });
        const headers = { 'content-type': 'text/plain' };
        return { path: `${path}/${Number(id)}/text`, raw: `||rule${n}.example^\n`, headers };
      },
    ],
    [`POST ${path}/refresh`, async () => ({ path: `${path}/refresh` })],
    [
      `POST ${path}/{id}/refresh`,
      async (fixture, n) => ({ path: `${path}/${await source(fixture, n)}/refresh` }),
    ],
    [
      `POST ${path}/{id}/approve`,
      async (fixture, n) => {
        const id = await source(fixture, n);
        await fixture.hold(id);
        return { path: `${path}/${id}/approve` };
      },
    ],
  ];
}

const rule = (field: string) => (serial: number) => ({ [field]: `n${serial}.example`, action: 'deny' });
const service = (serial: number): unknown => ({
  name: `service ${serial}`,
  category: 'telemetry',
  domains: [`s${serial}.example`],
});

/** Settings of an AdGuard Home that create a row in each of several tables. */
const adguardOf = (serial: number): string => `schema_version: 34
user_rules: ['||imported${serial}.example^']
filtering: {rewrites: [{domain: nas${serial}.lan, answer: 192.0.2.5}]}
dns: {upstream_dns: ['[/zone${serial}.example/]192.0.2.53']}
clients:
  persistent:
    - {name: of ${serial}, ids: [203.0.113.${serial % 250}], use_global_settings: false, filtering_enabled: false}
`;

/** Preparations by method and path. */
const PREPARE = new Map<string, Prepare>([
  ...ACCESS_MUTATIONS,
  ...entity('/groups', (n) => ({ name: `g${n}` }), { comment: 'changed' }),
  ...entity('/group-plans', (n) => ({ name: `plan ${n}`, timezone: 'UTC' }), {
    ...{ name: 'changed plan', timezone: 'UTC', services: [{ service_id: 'youtube', always: true }] },
  }),
  ...entity('/clients', (n) => ({ ip_address: `198.51.100.${n % 250}` }), { name: 'x' }, { update: 'PATCH' }),
  [
    'PUT /clients/{id}/group',
    async (fixture, n) => ({ path: `/clients/${await client(fixture, n)}/group`, json: { group_id: 1 } }),
  ],
  [
    'POST /clients/acknowledge',
    async (fixture, n) => ({
      path: '/clients/acknowledge',
      json: { client_ids: [await client(fixture, n)] },
    }),
  ],
  [
    'POST /clients/{id}/merge',
    async (fixture, n) => ({
      path: `/clients/${await client(fixture, n)}/merge`,
      json: { client_ids: [await otherClient(fixture, n)] },
    }),
  ],
  [
    'POST /clients/{id}/split',
    async (fixture, n) => {
      const part = await otherClient(fixture, n);
      await fixture.make('POST', `/clients/${await client(fixture, n)}/merge`, { client_ids: [part] });
      return { path: `/clients/${part}/split` };
    },
  ],
  [
    'POST /clients/allowed',
    async (_room, n) => ({ path: '/clients/allowed', json: { networks: [`198.51.${n % 250}.0/24`] } }),
  ],
  ...entity('/client-subnets', (n) => ({ subnet_cidr: `10.${n % 250}.0.0/16`, group_id: 1 }), null),
  ...['/blocklist-sources', '/allowlist-sources', '/whitelist-sources'].flatMap(ofSources),
  ...entity('/managed-domains', rule('domain'), { comment: 'changed' }),
  ...entity('/regex-filters', rule('pattern'), { comment: 'changed' }),
  [
    'POST /services',
    async (fixture, n) => ({
      path: '/services',
      json: { service_id: 'netflix', group_id: await group(fixture, n) },
    }),
  ],
  [
    'PUT /services/{service_id}/groups/{group_id}',
    async ({ make }, n) => {
      const profile = await make('POST', '/schedule-profiles', { name: `times ${n}`, timezone: 'UTC' });
      const json = { service_id: 'netflix', group_id: await group({ make } as MutationFixture, n) };
      await make('POST', '/services', json);
      return { path: `/services/netflix/groups/${json.group_id}`, json: { profile_id: profile['id'] } };
    },
  ],
  [
    'DELETE /services/{service_id}/groups/{group_id}',
    async ({ make }, n) => {
      const json = { service_id: 'netflix', group_id: await group({ make } as MutationFixture, n) };
      await make('POST', '/services', json);
      return { path: `/services/netflix/groups/${json.group_id}` };
    },
  ],
  ...entity('/custom-services', service, { name: 'other' }, { update: 'PATCH', key: 'service_id' }),
  ['POST /services/custom', async (_room, n) => ({ path: '/services/custom', json: service(n) })],
  [
    'POST /revisions/{id}/rollback',
    async (fixture, n) => {
      await group(fixture, n);
      const revisions = (await fixture.make('GET', '/revisions')) as unknown as { id: number }[];
      await fixture.make('POST', '/managed-domains', rule('domain')(n));
      return { path: `/revisions/${revisions[0]!.id}/rollback` };
    },
  ],
  ...entity('/forward-zones', (n) => ({ zone: `z${n}.example`, servers: ['192.0.2.53'] }), { comment: 'c' }),
  ['POST /settings', async (_room, n) => ({ path: '/settings', json: { local_domain: `a${n}.test` } })],
  ['PUT /settings', async (_room, n) => ({ path: '/settings', json: { local_domain: `b${n}.test` } })],
  ...entity(
    '/local-records',
    (n) => ({ hostname: `h${n}`, domain: 'home.test', record_type: 'A', value: '192.0.2.1' }),
    { ttl: 60 },
  ),
  [
    'POST /safe-search/configs/{group_id}',
    async (fixture, n) => ({ path: `/safe-search/configs/${await group(fixture, n)}`, json: {} }),
  ],
  [
    'DELETE /safe-search/configs/{group_id}',
    async (fixture, n) => {
      const path = `/safe-search/configs/${await group(fixture, n)}`;
      await fixture.make('POST', path, {});
      return { path };
    },
  ],
  ...entity('/schedule-profiles', (n) => ({ name: `p${n}`, timezone: 'UTC' }), { comment: 'changed' }),
  [
    'POST /schedule-profiles/{id}/slots',
    async (fixture, n) => ({ path: `/schedule-profiles/${await profile(fixture, n)}/slots`, json: SLOT }),
  ],
  [
    'DELETE /schedule-profiles/{id}/slots/{slot_id}',
    async (fixture, n) => {
      const path = `/schedule-profiles/${await profile(fixture, n)}/slots`;
      return { path: `${path}/${Number((await fixture.make('POST', path, SLOT))['id'])}` };
    },
  ],
  [
    'PUT /groups/{id}/schedule',
    async (fixture, n) => ({
      path: `/groups/${await group(fixture, n)}/schedule`,
      json: { profile_id: await profile(fixture, n) },
    }),
  ],
  [
    'DELETE /groups/{id}/schedule',
    async (fixture, n) => {
      const path = `/groups/${await group(fixture, n)}/schedule`;
      await fixture.make('PUT', path, { profile_id: await profile(fixture, n) });
      return { path };
    },
  ],
  ['PATCH /config', async (_room, n) => ({ path: '/config', json: { cache: { min_ttl_secs: n } } })],
  ['POST /config', async (_room, n) => ({ path: '/config', json: { blocking: { ttl_secs: n } } })],
  [
    'POST /config/reload',
    async (fixture, n) => {
      await fixture.editConfig(`dns.query_timeout_ms = ${1000 + n}`);
      return { path: '/config/reload' };
    },
  ],
  ['POST /blocking', async () => ({ path: '/blocking', json: { enabled: false } })],
  [
    'DELETE /blocking',
    async ({ make }) => {
      await make('POST', '/blocking', { enabled: false });
      return { path: '/blocking' };
    },
  ],
  [
    'POST /managed-domains/bulk',
    async (_room, n) => ({
      path: '/managed-domains/bulk',
      json: { create: [{ domain: `many${n}.example` }] },
    }),
  ],
  [
    'POST /regex-filters/bulk',
    async (_room, n) => ({ path: '/regex-filters/bulk', json: { create: [{ pattern: `^many${n}` }] } }),
  ],
  [
    'POST /clients/bulk',
    async (_room, n) => ({
      path: '/clients/bulk',
      json: { create: [{ ip_address: `203.0.113.${n % 250}`, name: `many ${n}` }] },
    }),
  ],
  [
    'POST /local-records/bulk',
    async (_room, n) => ({
      path: '/local-records/bulk',
      json: { create: [{ fqdn: `many${n}.home.arpa`, value: '192.0.2.7' }] },
    }),
  ],
  ...entity('/grants', (n) => ({ domain: `g${n}.example`, group_id: 1, secs: 60 }), null),
  ['POST /backup', async () => ({ path: '/backup', json: { passphrase: 'correct horse battery' } })],
  [
    'POST /restore',
    async ({ make }, n) => {
      const backup = await make('GET', '/backup');
      const domain = { name: 'restored', domain: `restored${n}.example` };
      return { path: '/restore', json: { ...backup, managed_domains: [domain] } };
    },
  ],
  [
    'POST /import',
    async (_room, n) => ({
      path: '/import',
      raw: adguardOf(n),
      headers: { 'content-type': 'application/octet-stream' },
    }),
  ],
  [
    'DELETE /nodes/{node}',
    async (fixture, n) => {
      await fixture.addGoneNode(`gone-${n}`);
      return { path: `/nodes/gone-${n}` };
    },
  ],
  [
    'DELETE /unblock-requests/{id}',
    async (fixture, n) => ({
      path: `/unblock-requests/${await fixture.addUnblockRequest(await otherClient(fixture, n))}`,
    }),
  ],
  ['DELETE /cache/entries', async () => ({ path: '/cache/entries' })],
  ['POST /clients/clear', async () => ({ path: '/clients/clear', json: {} })],
  ['POST /queries/clears', async () => ({ path: '/queries/clears', json: {} })],
]);

/**
 * Routes that change something. Simulations, tests and previews change nothing, and probes are not stored in the
 * database.
 */
export const CHANGING: readonly Route[] = everyRow.filter(
  ({ method, path }) =>
    method !== 'GET' && !/^\/(?:simulate|probes|upstreams\/test)(?:\/|$)|\/preview$/.test(path),
);

/** Number of audit log entries that a successful request adds. Logins and logouts are listed as sessions instead. */
export function entriesOf({ path }: Route): number {
  return path === '/auth/logout' ? 0 : 1;
}

let serial = 0;

/** Prepares the route, and returns a request that has not been sent yet. */
export async function prepareMutation({ method, path }: Route, fixture: MutationFixture): Promise<Mutation> {
  const prepare = PREPARE.get(`${method} ${path}`);
  if (prepare === undefined) throw new Error(`api-changes.ts has no row for ${method} ${path}`);
  return { method, ...(await prepare(fixture, ++serial)) };
}
