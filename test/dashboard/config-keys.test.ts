/** The table of keys in the settings of the dashboard, compared with the configuration itself. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { keysOf } from '../../config/keys.ts';
import { keys as schema } from '../../config/sections.ts';
import { CONFIG_KEYS } from '../../control-plane/dashboard/src/pages/settings/keys/config-key.ts';

describe('CONFIG_KEYS, the configuration keys in the dashboard,', () => {
  test('are the keys of the configuration, in the same order and with the same words, units and limits', () => {
    const keys = keysOf(schema).map(({ path, schema: key, notes }) => {
      const {
        minimum,
        maximum,
        enum: choices,
      } = z.toJSONSchema(key, { unrepresentable: 'any', io: 'input' });
      const { doc, unit, restart = false, secret = false } = notes;
      const help = doc.replace(/ Needs a restart\.$/, '');
      return { key: path.join('.'), help, unit, min: minimum, max: maximum, choices, restart, secret };
    });
    const shown = CONFIG_KEYS.map(
      ({ key, help, unit, min, max, choices, restart = false, secret = false }) => ({
        ...{ key, help, unit, min, max, choices, restart, secret },
      }),
    );
    expect(shown).toEqual(keys);
  });

  test('have the defaults of the configuration', () => {
    // A single URL is a string.
    const others = keysOf(schema).filter(({ path }) => !/^database\.(?:owner_)?url$/.test(path.join('.')));
    const defaults = others.map(({ path, schema: key }) => [path.join('.'), z.parse(key, undefined)]);
    const shown = new Map(CONFIG_KEYS.map((entry) => [entry.key, entry.default]));
    expect(others.map(({ path }) => [path.join('.'), shown.get(path.join('.'))])).toEqual(defaults);
  });
});
