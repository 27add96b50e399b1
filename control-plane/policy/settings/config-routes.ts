/** HTTP of `{api}/config`: the configuration, without what `config/sections.ts` marks as secret, and its changes. */
import { isSecret, valuesOf } from '../../../config/layers.ts';
import type { Values } from '../../../config/layers.ts';
import { ConfigAnswer, ConfigBody, ConfigChanged } from '../../../shared/api/settings-api.ts';
import { hasMask, shownUrl, unmaskUrl } from '../../../shared/net/shown-url.ts';
import { invalid } from '../../api/api-error.ts';
import { isLocal } from '../../api/local-requests.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route, RouteRequest } from '../../api/route.ts';
import type { PolicyChanges } from '../change/change.ts';
import { faultsOfBody } from './bad-fields.ts';
import type { Configuration } from './configuration.ts';

const ADMIN_NAME = 'auth.admin.username';
const NOT_CHANGED =
  'set by the environment of this node, its configuration file has faults or cannot be changed, or a user has the name';

/** Rows of the configuration. */
export function configRoutes(context: {
  configuration: Pick<Configuration, 'written' | 'sources' | 'pending' | 'change' | 'reload'>;
  policy: PolicyChanges;
  users: { refuseTaken(username: string): Promise<void> };
}): Route[] {
  return [
    readConfig(context.configuration),
    changeConfig(context.configuration, context.policy, context.users, 'PATCH'),
    changeConfig(context.configuration, context.policy, context.users, 'POST'),
    reloadConfig(context.configuration, context.policy),
  ];
}

function readConfig(
  configuration: Pick<Configuration, 'written' | 'sources' | 'pending' | 'change' | 'reload'>,
): Route {
  return route({
    method: 'GET',
    path: '/config',
    access: 'viewer',
    tag: 'System',
    summary: 'The configuration without its secrets, and where each key is from',
    answer: ConfigAnswer,
    handle: () => ({
      ...(withoutSecrets(configuration.written(), []) as ConfigAnswer),
      sources: configuration.sources(),
      restart_required: configuration.pending(),
    }),
  });
}

function changeConfig(
  configuration: Pick<Configuration, 'written' | 'sources' | 'pending' | 'change' | 'reload'>,
  policy: PolicyChanges,
  users: { refuseTaken(username: string): Promise<void> },
  method: 'PATCH' | 'POST',
): Route {
  return route({
    method,
    path: '/config',
    access: 'admin',
    tag: 'System',
    summary:
      'Change keys of the configuration, by section; absent keys keep their value, null gives the default back',
    body: ConfigBody,
    answer: ConfigChanged,
    errors: { 409: NOT_CHANGED },
    handle: async (request) => {
      const values = unmasked(checkedValues(request), valuesOf(configuration.written()));
      if (typeof values[ADMIN_NAME] === 'string') await users.refuseTaken(values[ADMIN_NAME]);
      return { success: true as const, ...(await configuration.change(policy, authorOf(request), values)) };
    },
  });
}

function reloadConfig(
  configuration: Pick<Configuration, 'written' | 'sources' | 'pending' | 'change' | 'reload'>,
  policy: PolicyChanges,
): Route {
  return route({
    method: 'POST',
    path: '/config/reload',
    access: 'admin',
    tag: 'System',
    summary: 'Read the configuration file of this node again',
    answer: ConfigChanged,
    errors: { 400: 'the file has faults', 409: 'the file cannot be read' },
    handle: async (request) => {
      const changed = await configuration.reload(policy, authorOf(request));
      return { success: true as const, ...changed };
    },
  });
}

/** The values of a body, by key, each good by itself; undefined for null. Throws 400 with every fault. */
function checkedValues({ body, http }: Pick<RouteRequest, 'body' | 'http'>): Values {
  const nulls = Object.entries(valuesOf(body)).filter(([, value]) => value === null);
  const given = withoutKeys(body, new Set(nulls.map(([name]) => name)), []);
  const values: Values = {
    ...valuesOf(given),
    ...Object.fromEntries(nulls.map(([name]) => [name, undefined])),
  };
  const fields = faultsOfBody(given, Object.keys(values), isLocal(http));
  if (fields.length > 0) throw invalid(fields);
  return values;
}

function withoutKeys(tree: unknown, names: ReadonlySet<string>, path: readonly string[]): unknown {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return tree;
  const kept = Object.entries(tree).filter(([name]) => !names.has([...path, name].join('.')));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutKeys(inner, names, [...path, name])]));
}

/** Values with the credentials that are stored in the place of the masks that `withoutSecrets` has put there. */
function unmasked(values: Values, stored: Values): Values {
  const given = Object.entries(values).map(([name, value]) => {
    if (typeof value !== 'string' || !hasMask(value)) return [name, value];
    const url = unmaskUrl(value, String(stored[name]));
    if (url === null) throw invalid([{ path: name, message: 'has a mask where its credentials stood' }]);
    return [name, url];
  });
  return Object.fromEntries(given) as Values;
}

function withoutSecrets(value: unknown, path: readonly string[]): unknown {
  if (typeof value === 'string') return shownUrl(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const shown = Object.entries(value).filter(([name]) => !isSecret([...path, name].join('.')));
  return Object.fromEntries(shown.map(([name, inner]) => [name, withoutSecrets(inner, [...path, name])]));
}
