/** HTTP of `{api}/config`: the configuration in force, without what `config/sections.ts` marks as
 * secret, and without the credentials in URLs. */
import { keysOf } from '../../config/keys.ts';
import type { Config } from '../../config/schema.ts';
import { keys } from '../../config/sections.ts';
import { ConfigAnswer } from '../../shared/api/system-api.ts';
import { shownUrl } from '../../shared/net/shown-url.ts';
import { route } from '../api/route.ts';
import type { Route } from '../api/route.ts';

/** What these rows are made of. */
export interface ConfigRouteParts {
  /** Asked for each request, because a reload replaces it. */
  readonly config: () => Config;
}

/** Rows of the configuration. */
export function configRoutes(parts: ConfigRouteParts): Route[] {
  return [readConfig(parts)];
}

const SECRET = new Set(keysOf(keys).flatMap(({ path, notes }) => (notes.secret ? [path.join('.')] : [])));

function readConfig(parts: ConfigRouteParts): Route {
  return route({
    method: 'GET',
    path: '/config',
    access: 'viewer',
    tag: 'System',
    summary: 'The configuration in force, without its secrets',
    answer: ConfigAnswer,
    handle: () => withoutSecrets(parts.config(), []) as ConfigAnswer,
  });
}

function withoutSecrets(value: unknown, path: readonly string[]): unknown {
  if (typeof value === 'string') return shownUrl(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const shown = Object.entries(value).filter(([name]) => !SECRET.has([...path, name].join('.')));
  return Object.fromEntries(shown.map(([name, inner]) => [name, withoutSecrets(inner, [...path, name])]));
}
