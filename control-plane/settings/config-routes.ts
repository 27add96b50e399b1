/** HTTP of `{api}/config`: the configuration in force, without what `config/schema.ts` marks as secret. */
import type { Config } from '../../config/schema.ts';
import { schema } from '../../config/schema.ts';
import type { ConfigAnswer } from '../../shared/api/system.ts';
import type { ApiContext } from '../http/api-context.ts';

type SchemaNode = (typeof schema)['keys'][keyof Config] | { readonly form: string };

/** GET config */
export function readConfig(context: ApiContext): ConfigAnswer {
  return withoutSecrets(schema, context.config()) as ConfigAnswer;
}

function withoutSecrets(node: SchemaNode, value: unknown): unknown {
  if (!('keys' in node)) return value;
  const known = Object.entries(node.keys as Record<string, SchemaNode>).filter(([, key]) => !isSecret(key));
  const values = value as Record<string, unknown>;
  return Object.fromEntries(known.map(([name, key]) => [name, withoutSecrets(key, values[name])]));
}

function isSecret(node: SchemaNode): boolean {
  return 'secret' in node && node.secret === true;
}
