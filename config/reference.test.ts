import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'toml';
import { z } from 'zod';
import { variableOf } from './environment.ts';
import { NOTES, keysOf, schemaAt, shapeOf } from './keys.ts';
import { parseConfig } from './parse-config.ts';
import { keys as schema } from './sections.ts';

const text = readFileSync(new URL('./weir.toml', import.meta.url), 'utf8');
const uncommented = text.replaceAll(/^#(?=\S)/gmu, '');
const keys = keysOf(schema);
const load = (toml: string) => parseConfig({ file: { name: 'weir.toml', text: toml }, env: {} });
const defaults = parseConfig({ file: undefined, env: {} });

describe('weir.toml', () => {
  test('sets no key, so that all keys have their defaults', () => {
    const result = load(text);
    expect(result.ok && result.value.explicit.size).toBe(0);
    expect(result.ok && result.value.config).toEqual(defaults.ok && defaults.value.config);
  });

  test('contains every key with its default once the comment signs are removed', () => {
    const result = load(uncommented);
    expect(result).toMatchObject({ ok: true });
    const all = keys.map(({ path }) => path.join('.'));
    expect(result.ok && [...result.value.explicit].sort()).toEqual(all.sort());
    expect(result.ok && result.value.config).toEqual(defaults.ok && defaults.value.config);
  });

  test.each(keys.map((placed) => [placed.path.join('.'), placed] as const))(
    'explains %s with the help text of the schema',
    (_name, { path, schema: key, notes }) => {
      const isTables = path.at(-1) === 'pools';
      const header = `[${path.slice(0, -1).join('.')}]`;
      const table = text.slice(text.indexOf(`\n${header}\n`)).split(/\n(?=#?\[)/u)[1] ?? '';
      const paragraphs = isTables ? text.split('\n\n') : table.split('\n\n');
      const words = paragraphs.map((paragraph) => paragraph.replaceAll('\n# ', ' ').replace(/^# /u, ''));
      const explained = notes.doc + (notes.unit === undefined ? '' : ` Unit: ${notes.unit}.`);
      const own = words.filter((paragraph) => paragraph.startsWith(explained));
      expect(own).toHaveLength(1);
      const assignments = own[0]?.split('\n#').slice(1) ?? [];
      if (isTables) return;
      expect(assignments).toHaveLength(1);
      const written: unknown = parse(assignments[0] ?? '');
      const value = /^(?:owner_)?url$/.test(path.at(-1) ?? '') ? '' : z.parse(key, undefined);
      expect({ ...(written as object) }).toEqual({ [path.at(-1) ?? '']: value });
    },
  );

  test('explains every key of a pool with the help texts of the schema', () => {
    const pool = Object.entries(shapeOf(schemaAt(schema, ['dns', 'pools', 0])));
    expect(pool).toHaveLength(4);
    const flat = text.replaceAll('\n# ', ' ');
    for (const [name, key] of pool) {
      const explained = flat.indexOf(` ${NOTES.get(key)?.doc}`);
      expect(flat.slice(explained).split('\n#')[1]).toMatch(new RegExp(`^${name} = `));
    }
  });
});

describe('the schema of the configuration', () => {
  test('has a valid default for every key', () => {
    for (const { path, schema: key } of keys) {
      const result = z.safeParse(key, z.parse(key, undefined));
      expect({ path, faults: result.error?.issues }).toEqual({ path, faults: undefined });
    }
  });

  test('has help for every key and a unit for every quantity', () => {
    for (const { path, notes: key } of keys) {
      expect(key.doc).toMatch(/^[A-Z].+\.$/);
      const quantity = /_(secs|ms|hours|days|bytes|len|per_second|size|threshold)$/.test(path.at(-1) ?? '');
      if (quantity) expect({ path, unit: key.unit }).toEqual({ path, unit: expect.any(String) });
    }
  });

  test('has a different environment variable for each key', () => {
    const names = keys.map(({ path }) => variableOf(path));
    expect(new Set(names).size).toBe(names.length);
  });
});
