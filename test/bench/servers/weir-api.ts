// The few calls of Weir's REST API that the harness makes: set up, sign in, replace the block lists by one file.
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

const PASSWORD = 'bench password';
const CALL_TIMEOUT_MS = 30_000;

const statusSchema = z.object({ setup_required: z.boolean() });
const sourceSchema = z.object({
  id: z.number(),
  status: z.string().nullish(),
  rules: z.number().nullish(),
  last_error: z.string().nullish(),
});

export type Source = z.infer<typeof sourceSchema>;

/** A signed-in session. */
export interface WeirApi {
  /** Deletes every source that the first start brought along. */
  removeSources(): Promise<void>;
  addSource(listFile: string): Promise<Source>;
  source(id: number): Promise<Source>;
}

/** Waits for the API, sets the password where none is set, signs in. Throws after `timeoutMs`. */
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
  const signedIn = caller(`http://127.0.0.1:${port}/api`, cookie);
  return {
    removeSources: async () => {
      const { body } = await signedIn('GET', '/blocklist-sources');
      for (const { id } of z.array(sourceSchema).parse(body))
        await signedIn('DELETE', `/blocklist-sources/${id}`);
    },
    addSource: async (listFile) => {
      const source = { name: 'bench', url: `file://${listFile}`, enabled: true };
      return sourceSchema.parse((await signedIn('POST', '/blocklist-sources', source)).body);
    },
    source: async (id) => sourceSchema.parse((await signedIn('GET', `/blocklist-sources/${id}`)).body),
  };
}

async function isUp(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/api/auth/status`, {
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    await response.arrayBuffer();
    return response.ok; // 503 while the database still starts
  } catch {
    return false; // refused: not listening yet
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
