// The calls of Weir's REST API that the bench makes: setup, login, lists, groups, and the query log.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

const PASSWORD = 'bench password';
const CALL_TIMEOUT_MS = 60_000;

const healthSchema = z.object({ checks: z.object({ database: z.object({ status: z.string() }) }) });
const statusSchema = z.object({ setup_required: z.boolean() });
const sourceSchema = z.object({
  id: z.number(),
  url: z.string(),
  subdomains: z.boolean(),
  status: z.string().nullish(),
  rules: z.number().nullish(),
  last_error: z.string().nullish(),
});
const groupSchema = z.object({ id: z.number() });
const pageSchema = z.object({ total: z.number() });

export type Source = z.infer<typeof sourceSchema>;

/** Paths that every dashboard of Weir polls. */
const POLLED = [
  '/health',
  '/stats/rate',
  '/blocklist-sources',
  '/upstream/health',
  '/cache/metrics',
  '/groups',
];
/** Searches over the whole query log, as a dashboard and its users make them. */
const POLLED_OF_LOG = [
  '/queries?limit=100',
  '/stats?period=24h',
  '/queries?limit=100&domain=apple',
  '/stats/top_domains?period=24h',
  '/queries?limit=100&domain=qqqqqq',
];

/** A logged-in session. */
export interface WeirApi {
  /** Session and port for other clients. */
  readonly credentials: { readonly port: number; readonly cookie: string };
  /** Deletes every source that the first start added. */
  removeSources(): Promise<void>;
  /** Adds a list file, for some groups or for all. */
  addSource(listFile: string, groupIds?: readonly number[]): Promise<Source>;
  source(id: number): Promise<Source>;
  sources(): Promise<Source[]>;
  /** Changes how a list is parsed, which makes Weir compile all lists again. Resolves when the new table is active. */
  setSubdomains(id: number, subdomains: boolean): Promise<void>;
  /** Fetches the list again; changes become active later. */
  refresh(id: number): Promise<void>;
  createGroup(name: string): Promise<number>;
  /** Makes a change that requires only a new snapshot; resolves when every thread uses it. */
  swapSnapshot(note: string): Promise<void>;
  /** Number of rows of the stored query log since a time. */
  storedQueries(since: Date): Promise<number>;
  /** Sends any other request; resolves with the body of the response, rejects on an error status. */
  call(method: string, path: string, body?: object): Promise<unknown>;
  /** Sends the requests of a dashboard, except requests for the query log. */
  poll(): Promise<void>;
  /** Runs the next search over the whole query log. */
  pollLog(): Promise<void>;
}

/** Waits for the API, sets the password if there is none, and logs in. Throws after `timeoutMs`. */
export async function signIn(port: number, timeoutMs: number, alive: () => void): Promise<WeirApi> {
  const call = caller(`http://127.0.0.1:${port}/api`);
  const deadline = performance.now() + timeoutMs;
  while (!(await isUp(port))) {
    alive();
    if (performance.now() > deadline)
      throw new Error(`wait for the API on port ${port}: not up in ${timeoutMs} ms`);
    await delay(50);
  }
  const { setup_required } = statusSchema.parse((await call('GET', '/auth/status')).body);
  if (setup_required) await call('POST', '/auth/setup', { password: PASSWORD });
  const { cookie } = await call('POST', '/auth/login', { username: 'admin', password: PASSWORD });
  return session({ port, cookie });
}

function session(credentials: WeirApi['credentials']): WeirApi {
  const call = caller(`http://127.0.0.1:${credentials.port}/api`, credentials.cookie);
  let asked = 0;
  const sources = async (): Promise<Source[]> =>
    z.array(sourceSchema).parse((await call('GET', '/blocklist-sources')).body);
  return {
    credentials,
    removeSources: async () => {
      for (const { id } of await sources()) await call('DELETE', `/blocklist-sources/${id}`);
    },
    addSource: async (listFile, groupIds = []) => {
      const name = listFile.slice(listFile.lastIndexOf('/') + 1);
      const source = { name, url: `file://${listFile}`, enabled: true, group_ids: groupIds };
      return sourceSchema.parse((await call('POST', '/blocklist-sources', source)).body);
    },
    source: async (id) => sourceSchema.parse((await call('GET', `/blocklist-sources/${id}`)).body),
    sources,
    setSubdomains: async (id, subdomains) => {
      await call('PUT', `/blocklist-sources/${id}`, { subdomains });
    },
    refresh: async (id) => {
      await call('POST', `/blocklist-sources/${id}/refresh`);
    },
    createGroup: async (name) => groupSchema.parse((await call('POST', '/groups', { name })).body).id,
    swapSnapshot: async (note) => {
      await call('PUT', '/groups/1', { comment: note });
    },
    storedQueries: async (since) =>
      pageSchema.parse((await call('GET', `/queries?limit=1&from=${since.toISOString()}`)).body).total,
    call: async (method, path, body) => (await call(method, path, body)).body,
    poll: async () => {
      for (const path of POLLED) await call('GET', path);
    },
    pollLog: async () => {
      await call('GET', POLLED_OF_LOG[asked++ % POLLED_OF_LOG.length]!);
    },
  };
}

async function isUp(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/health`, {
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const { checks } = healthSchema.parse(await response.json());
    return checks.database.status === 'ok'; // Login needs the database.
  } catch {
    return false; // The connection was refused, because Weir does not listen yet.
  }
}

type Call = (method: string, path: string, body?: object) => Promise<{ body: unknown; cookie: string }>;

function caller(base: string, cookie = ''): Call {
  return async (method, path, body) => {
    const response = await fetch(base + path, {
      method,
      headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: status ${response.status}: ${text}`);
    const cookies = response.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
    return { body: text === '' ? undefined : JSON.parse(text), cookie: cookies.join('; ') };
  };
}
