// Requests of the API bench: each GET in the reference of the running Weir server, and for each collection, entities
// that are created, changed and deleted one after another.
import type { Step } from './steady-requests.ts';

/** The parts of an OpenAPI document that the bench reads. */
export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

interface DescribedOperation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  }[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

/** Values of path parameters, by path. */
export type PathValues = Readonly<Record<string, Readonly<Record<string, string | number>>>>;

/** Query strings of GETs that require one. */
const QUERIES: Readonly<Record<string, string>> = {
  '/explain': 'domain=www.example.com&type=A&client=10.0.0.7',
  '/stats/rate': 'unit=second',
  '/queries/timeline': 'period=24h&granularity=15min',
};

/** Steps for all GETs with a JSON response, and the GETs that cannot be requested. */
export function readSteps(document: Described, values: PathValues): { steps: Step[]; leftOut: string[] } {
  const steps: Step[] = [];
  const leftOut: string[] = [];
  for (const [path, { get }] of Object.entries(document.paths)) {
    if (get === undefined) continue;
    if (get.responses['200']?.content?.['application/json'] === undefined) {
      leftOut.push(`GET ${path}: no JSON`);
      continue;
    }
    const filled = path.replaceAll(/\{(\w+)\}/g, (hole, name: string) =>
      String(values[path]?.[name] ?? hole),
    );
    if (filled.includes('{')) {
      leftOut.push(`GET ${path}: no entity to read`);
      continue;
    }
    const asked = { method: 'GET', path: path in QUERIES ? `${filled}?${QUERIES[path]}` : filled };
    steps.push({ name: `GET ${path}`, isChange: false, ask: () => asked });
  }
  return { steps, leftOut };
}

/** The life cycle of the entities of a collection. */
interface Life {
  readonly collection: string;
  /** The body of the n-th entity. */
  readonly make: (n: number) => object;
  readonly change?: { readonly method: 'PUT' | 'PATCH'; readonly body: (n: number) => object };
  /** Name of the field that identifies an entity; `id` by default. */
  readonly key?: string;
}

const LIVES: readonly Life[] = [
  {
    collection: '/groups',
    make: (n) => ({ name: `made ${n}` }),
    change: { method: 'PUT', body: (n) => ({ name: `changed ${n}` }) },
  },
  {
    collection: '/clients',
    make: (n) => ({ ip_address: `192.0.2.${n % 250}`, name: `made ${n}` }),
    change: { method: 'PATCH', body: (n) => ({ name: `changed ${n}` }) },
  },
  { collection: '/client-subnets', make: (n) => ({ subnet_cidr: `198.51.100.${n % 250}/32`, group_id: 1 }) },
  {
    collection: '/managed-domains',
    make: (n) => ({ name: `made ${n}`, domain: `made${n}.example.org`, action: 'deny' }),
    change: {
      method: 'PUT',
      body: (n) => ({ name: `made ${n}`, domain: `changed${n}.example.org`, action: 'deny' }),
    },
  },
  {
    collection: '/regex-filters',
    make: (n) => ({ name: `made ${n}`, pattern: `^made${n}\\.`, action: 'deny' }),
    change: {
      method: 'PUT',
      body: (n) => ({ name: `made ${n}`, pattern: `^changed${n}\\.`, action: 'deny' }),
    },
  },
  {
    collection: '/custom-services',
    make: (n) => ({ name: `made ${n}`, category: 'telemetry', domains: [`made${n}.service.example.org`] }),
    change: { method: 'PATCH', body: (n) => ({ name: `changed ${n}` }) },
    key: 'service_id',
  },
  {
    collection: '/forward-zones',
    make: (n) => ({ zone: `made${n}.example.net`, servers: ['192.0.2.53'] }),
    change: { method: 'PUT', body: (n) => ({ zone: `changed${n}.example.net`, servers: ['192.0.2.53'] }) },
  },
  {
    collection: '/local-records',
    make: (n) => ({ hostname: `made${n}`, domain: 'home.arpa', record_type: 'A', value: '192.0.2.1' }),
    change: {
      method: 'PUT',
      body: (n) => ({ hostname: `made${n}`, domain: 'home.arpa', record_type: 'A', value: '192.0.2.2' }),
    },
  },
  {
    collection: '/schedule-profiles',
    make: (n) => ({ name: `made ${n}`, timezone: 'Europe/Berlin', comment: '' }),
    change: { method: 'PUT', body: (n) => ({ name: `changed ${n}`, timezone: 'Europe/Paris', comment: '' }) },
  },
  {
    collection: '/users',
    make: (n) => ({ username: `made${n}`, password: 'a password of the bench', role: 'viewer' }),
    change: { method: 'PATCH', body: (n) => ({ display_name: `changed ${n}` }) },
  },
  {
    collection: '/api-tokens',
    make: (n) => ({ name: `made ${n}`, role: 'viewer' }),
    change: { method: 'PUT', body: (n) => ({ name: `changed ${n}` }) },
  },
  { collection: '/grants', make: (n) => ({ domain: `made${n}.example.org`, group_id: 1, secs: 3600 }) },
];

/** Steps that create, change and delete entities; `groups` are ids of groups that may be changed. */
export function changeSteps(document: Described, groups: readonly number[]): Step[] {
  const lives = LIVES.filter(({ collection }) => document.paths[collection]?.post !== undefined);
  return [...lives.flatMap(stepsOfLife), ...stepsInPlace(groups)];
}

function stepsOfLife({ collection, make, change, key = 'id' }: Life): Step[] {
  const made: (string | number)[] = [];
  const changed: (string | number)[] = [];
  let count = 0;
  const post: Step = {
    name: `POST ${collection}`,
    isChange: true,
    ask: () => ({ method: 'POST', path: collection, body: make(++count) }),
    answered: (body) => made.push((body as Record<string, string | number>)[key]!),
  };
  const remove: Step = {
    name: `DELETE ${collection}/{${key}}`,
    isChange: true,
    ask: () => {
      const id = (change === undefined ? made : changed).shift();
      return id === undefined ? null : { method: 'DELETE', path: `${collection}/${id}` };
    },
  };
  if (change === undefined) return [post, remove];
  const put: Step = {
    name: `${change.method} ${collection}/{${key}}`,
    isChange: true,
    ask: () => {
      const id = made.shift();
      if (id === undefined) return null;
      changed.push(id);
      return { method: change.method, path: `${collection}/${id}`, body: change.body(count) };
    },
  };
  return [post, put, remove];
}

/** Changes that need no new entity: each changes a setting and then restores it. */
function stepsInPlace(groups: readonly number[]): Step[] {
  let turn = 0;
  const group = (): number => groups[turn % groups.length]!;
  const step = (name: string, method: string, path: () => string, body?: () => object): Step => ({
    name,
    isChange: true,
    ask: () => ({ method, path: path(), ...(body !== undefined && { body: body() }) }),
  });
  return [
    step(
      'POST /safe-search/configs/{group_id}',
      'POST',
      () => `/safe-search/configs/${groups[turn++ % groups.length]}`,
      () => ({
        engine: 'google',
        enabled: turn % 2 === 0,
      }),
    ),
    step(
      'POST /settings',
      'POST',
      () => '/settings',
      () => ({ local_domain: turn % 2 === 0 ? 'lan' : 'home.arpa' }),
    ),
    step(
      'POST /blocking',
      'POST',
      () => '/blocking',
      () => ({ enabled: true }),
    ),
    step('DELETE /blocking', 'DELETE', () => '/blocking'),
    step(
      'POST /clients/clear',
      'POST',
      () => '/clients/clear',
      () => ({ dry_run: true }),
    ),
    step(
      'POST /queries/clears',
      'POST',
      () => '/queries/clears',
      () => ({ to: '2001-01-01T00:00:00Z' }),
    ),
    step('DELETE /cache/entries', 'DELETE', () => '/cache/entries?domain=gone.example.org'),
    step(
      'POST /services',
      'POST',
      () => '/services',
      () => ({ service_id: 'tiktok', group_id: group() }),
    ),
    step(
      'PUT /services/{service_id}/groups/{group_id}',
      'PUT',
      () => `/services/tiktok/groups/${group()}`,
      () => ({ profile_id: null }),
    ),
    step(
      'DELETE /services/{service_id}/groups/{group_id}',
      'DELETE',
      () => `/services/tiktok/groups/${group()}`,
    ),
  ];
}
