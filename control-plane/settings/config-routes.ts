/** HTTP of `{api}/config`: the configuration in force, without what `config/schema.ts` marks as
 * secret, and without the credentials in URLs. */
import type { SchemaNode } from '../../config/key-kinds.ts';
import { schema } from '../../config/schema.ts';
import { shownUrl } from '../../shared/net/shown-url.ts';
import type { ConfigAnswer } from '../../shared/api/system-api.ts';
import type { ApiContext } from '../api/api-context.ts';

/** GET config */
export function readConfig(context: ApiContext): ConfigAnswer {
  return withoutSecrets(schema, context.config()) as ConfigAnswer;
}

function withoutSecrets(node: SchemaNode, value: unknown): unknown {
  if (node.form === 'key') return typeof value === 'string' ? shownUrl(value) : value;
  const values = value as Readonly<Record<string, unknown>>;
  const shown = Object.entries(node.keys).filter(
    ([, inner]) => inner.form === 'section' || inner.secret !== true,
  );
  return Object.fromEntries(shown.map(([name, inner]) => [name, withoutSecrets(inner, values[name])]));
}
