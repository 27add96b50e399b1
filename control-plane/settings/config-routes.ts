/** HTTP of `{api}/config`: the configuration in force, without what `config/sections.ts` marks as
 * secret, and without the credentials in URLs. */
import { keysOf } from '../../config/keys.ts';
import { keys } from '../../config/sections.ts';
import { shownUrl } from '../../shared/net/shown-url.ts';
import type { ConfigAnswer } from '../../shared/api/system-api.ts';
import type { ApiContext } from '../api/api-context.ts';

const SECRET = new Set(keysOf(keys).flatMap(({ path, notes }) => (notes.secret ? [path.join('.')] : [])));

/** GET config */
export function readConfig(context: ApiContext): ConfigAnswer {
  return withoutSecrets(context.config(), []) as ConfigAnswer;
}

function withoutSecrets(value: unknown, path: readonly string[]): unknown {
  if (typeof value === 'string') return shownUrl(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const shown = Object.entries(value).filter(([name]) => !SECRET.has([...path, name].join('.')));
  return Object.fromEntries(shown.map(([name, inner]) => [name, withoutSecrets(inner, [...path, name])]));
}
