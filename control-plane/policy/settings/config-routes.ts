/** HTTP routes of `{api}/config`: the configuration without keys that `config/sections.ts` marks as secret. */
import { isSameValue, isSecret, valuesOf } from '../../../config/layers.ts';
import type { Values } from '../../../config/layers.ts';
import type { Config } from '../../../config/schema.ts';
import { ConfigAnswer, ConfigBody, ConfigChanged, ConfigQuery } from '../../../shared/api/settings-api.ts';
import { hasMask, shownUrl, unmaskUrl } from '../../../shared/net/shown-url.ts';
import { invalid } from '../../api/api-error.ts';
import { entity } from '../../api/entity.ts';
import type { Entity } from '../../api/entity.ts';
import { isLocal } from '../../api/local-requests.ts';
import { authorOf, route } from '../../api/route.ts';
import type { Route, RouteRequest } from '../../api/route.ts';
import type { PolicyChanges } from '../change/change.ts';
import { faultsOfBody } from './bad-fields.ts';
import { readConfigRows } from './config-store.ts';
import type { Configuration } from './configuration.ts';
import { refuseSilentPools, type TestUpstreams } from './silent-pools.ts';

type ConfigSections = Omit<ConfigAnswer, 'sources' | 'restart_required'>;

const NOT_CHANGED =
  'an environment variable of this node sets a key, its configuration file has faults or cannot be ' +
  'changed, a user has the name of the administrator, or no server of a new pool answers ' +
  '(upstream_silent)';

/** The methods of `Configuration` that the routes use. */
type StoredConfiguration = Pick<
  Configuration,
  'written' | 'writtenWith' | 'sources' | 'pending' | 'change' | 'reload'
>;

/** The routes of the configuration. */
export function configRoutes(context: {
  configuration: StoredConfiguration;
  policy: PolicyChanges;
  testUpstreams: TestUpstreams;
}): Route[] {
  const { configuration } = context;
  const config = entity({
    path: '/config',
    answer: ConfigAnswer,
    body: ConfigBody,
    read: async (db) => toApiSections(configuration.writtenWith(await readConfigRows(db))),
    // The response to a change has no sections to compare.
    covers: (answer) => ('dns' in answer ? {} : toApiSections(configuration.written())),
  });
  return [
    readConfig(configuration, config),
    changeConfig(context, config, 'PATCH'),
    changeConfig(context, config, 'POST'),
    reloadConfig(configuration, context.policy),
  ];
}

function readConfig(configuration: StoredConfiguration, config: Entity): Route {
  return route({
    method: 'GET',
    path: '/config',
    access: 'viewer',
    tag: 'System',
    summary: 'The configuration without its secrets, and where the value of each key is set',
    answer: ConfigAnswer,
    entity: config,
    handle: () => ({
      ...toApiSections(configuration.written()),
      sources: configuration.sources(),
      restart_required: configuration.pending(),
    }),
  });
}

function changeConfig(
  { configuration, policy, testUpstreams }: Parameters<typeof configRoutes>[0],
  config: Entity,
  method: 'PATCH' | 'POST',
): Route {
  return route({
    method,
    path: '/config',
    access: 'admin',
    tag: 'System',
    summary:
      'Change keys of the configuration, by section; absent keys keep their value, null resets a key to ' +
      'its default, and a value equal to the current one has no effect',
    query: ConfigQuery,
    body: ConfigBody,
    answer: ConfigChanged,
    entity: config,
    errors: { 409: NOT_CHANGED },
    handle: async (request) => {
      const stored = configuration.written();
      const names = Object.keys(valuesOf(request.body));
      const body = withoutUnchanged(request.body, stored);
      const values = unmasked(checkedValues({ body, http: request.http }), valuesOf(stored));
      const { query, gone } = request;
      if (!query.force) await refuseSilentPools(values, stored, { testUpstreams, gone });
      await configuration.change(policy, authorOf(request), values);
      const restart = configuration.pending().filter((name) => names.includes(name));
      return { success: true as const, restart_required: restart };
    },
  });
}

function reloadConfig(configuration: StoredConfiguration, policy: PolicyChanges): Route {
  return route({
    method: 'POST',
    path: '/config/reload',
    access: 'admin',
    tag: 'System',
    summary: 'Reload the configuration file of this node',
    answer: ConfigChanged,
    errors: {
      400: 'the configuration file has errors',
      409: 'the configuration file cannot be read, or its administrator has the name of a user',
    },
    handle: async (request) => {
      const changed = await configuration.reload(policy, authorOf(request));
      return { success: true as const, ...changed };
    },
  });
}

/**
 * The values in a body, by key, each of which is valid by itself; null in the body becomes undefined. Throws 400 with
 * all errors.
 */
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

/** The body without keys whose values equal the values that readers are shown. */
function withoutUnchanged(body: unknown, stored: Config): unknown {
  const [given, shown] = [valuesOf(body), valuesOf(toApiSections(stored))];
  const names = Object.keys(given).filter((name) => isSameValue(given[name], shown[name]));
  return withoutKeys(body, new Set(names), []);
}

function withoutKeys(tree: unknown, names: ReadonlySet<string>, path: readonly string[]): unknown {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return tree;
  const kept = Object.entries(tree).filter(([name]) => !names.has([...path, name].join('.')));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutKeys(inner, names, [...path, name])]));
}

/** The values, with masks from `withoutSecrets` replaced by the stored credentials. */
function unmasked(values: Values, stored: Values): Values {
  const given = Object.entries(values).map(([name, value]) => {
    if (typeof value !== 'string' || !hasMask(value)) return [name, value];
    const url = unmaskUrl(value, String(stored[name]));
    if (url === null)
      throw invalid([
        { path: name, message: 'expected credentials, not ***: none are stored for this host' },
      ]);
    return [name, url];
  });
  return Object.fromEntries(given) as Values;
}

/** The sections of the configuration in the form that is shown to readers. */
function toApiSections(config: Config): ConfigSections {
  return withoutSecrets(config, []) as ConfigSections;
}

function withoutSecrets(value: unknown, path: readonly string[]): unknown {
  if (typeof value === 'string') return shownUrl(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const shown = Object.entries(value).filter(([name]) => !isSecret([...path, name].join('.')));
  return Object.fromEntries(shown.map(([name, inner]) => [name, withoutSecrets(inner, [...path, name])]));
}
