/** Finds the server that a command contacts: either the server that runs on the data directory, or the one at --url. */
import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatFault } from '../../../config/config-fault.ts';
import { loadConfig, loadUsable } from '../../../config/load-config.ts';
import type { ConfigSource } from '../../../config/load-config.ts';
import type { Config } from '../../../config/schema.ts';
import { TypedClient } from '../../../shared/api/client/typed-client.ts';
import type { Fetch } from '../../../shared/api/client/typed-client.ts';
import { reasonOf } from '../../../shared/errors.ts';
import { apiPrefix } from '../../api/api-prefix.ts';
import { SOCKET_NAME } from '../../api/socket-name.ts';
import type { GivenOptions } from '../arguments.ts';
import { nodeFetch } from './node-fetch.ts';

/** Error: the command line or the environment is invalid. */
export class Misuse extends Error {
  override readonly name = 'Misuse';
}

/** Connects to the server; returns an API client. Throws Misuse or Unreachable. */
export async function connectApi(options: GivenOptions, env: NodeJS.ProcessEnv): Promise<TypedClient> {
  const { url } = options;
  return typeof url === 'string' ? connectUrl(url, options, env) : connectSocket(options, env);
}

async function connectSocket(
  { config: file, 'token-file': token }: GivenOptions,
  env: NodeJS.ProcessEnv,
): Promise<TypedClient> {
  if (token !== undefined) throw new Misuse('--token-file requires --url');
  const source = { file: file === true ? undefined : file, env, cwd: process.cwd() };
  const { data_dir: dataDir, alt_compat: altCompat } = (await serverConfig(source)).server;
  const socket = join(dataDir, SOCKET_NAME);
  refuseStrange(socket, dataDir);
  return new TypedClient({ baseUrl: `http://localhost${apiPrefix(altCompat)}`, fetch: nodeFetch(socket) });
}

/**
 * If the command runs as root, rejects a socket that belongs neither to root nor to the owner of the data directory.
 */
export function refuseStrange(socket: string, dataDir: string, uid = process.geteuid?.()): void {
  if (uid !== 0) return;
  const [owner, dataOwner] = [socket, dataDir].map((path) => lstatSync(path, { throwIfNoEntry: false })?.uid);
  if (owner !== undefined && owner !== 0 && owner !== dataOwner)
    throw new Misuse(
      `${socket} belongs to user id ${owner}, who does not own ${dataDir}: refusing to use it`,
    );
}

/**
 * The configuration of the server. A file with errors is also accepted, because the server may run with an earlier
 * version of the file.
 */
async function serverConfig(source: ConfigSource): Promise<Config> {
  const loaded = await loadConfig(source);
  if (loaded.ok) return loaded.value.config;
  const { config, isDataDirKnown } = await loadUsable(source);
  if (isDataDirKnown) return config;
  throw new Error(loaded.faults.map(formatFault).join('\n'));
}

async function connectUrl(url: string, options: GivenOptions, env: NodeJS.ProcessEnv): Promise<TypedClient> {
  const place = URL.canParse(url) ? new URL(url) : null;
  if (place === null || !/^https?:$/.test(place.protocol))
    throw new Misuse(`--url ${url}: expected http://… or https://…`);
  if (place.username !== '' || place.password !== '')
    throw new Misuse('--url must not contain a password; use a token');
  const token = await tokenOf(options, env);
  const fetch = nodeFetch(null);
  const prefix =
    place.pathname === '/' ? await prefixAt(place.origin, fetch) : place.pathname.replace(/\/$/, '');
  return new TypedClient({
    baseUrl: place.origin + prefix,
    fetch,
    ...(token !== null && { headers: { 'X-Api-Key': token } }),
  });
}

/**
 * The token, from a file or the environment. It must not be an argument, because other users of the machine could see
 * it.
 */
async function tokenOf({ 'token-file': file }: GivenOptions, env: NodeJS.ProcessEnv): Promise<string | null> {
  const token = typeof file === 'string' ? await readToken(file) : env['WEIR_TOKEN'];
  if (token === undefined || token.trim() === '') return null;
  if (!/^[\x21-\x7e]+$/.test(token.trim()))
    throw new Misuse('the token must consist of printable characters without spaces');
  return token.trim();
}

async function readToken(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Misuse(`could not read the token: ${reasonOf(error)}`);
  }
}

/** Path prefix of the API, which is read from the script that configures the dashboard. */
async function prefixAt(origin: string, fetch: Fetch): Promise<string> {
  const response = await fetch(`${origin}/svc-config.js`, {});
  const found = /"apiBase":"(\/[a-z/]+)"/.exec(await response.text());
  return found?.[1] ?? apiPrefix(false);
}
