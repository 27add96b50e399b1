import { describe, expect, test } from '@jest/globals';
import { everyRow } from '../../test/support/parts/every-route.ts';

describe('routeTable()', () => {
  test('contains each operation once', () => {
    const names = everyRow.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('contains no path with a parameter before a path that this parameter would match', () => {
    const paths = [...new Set(everyRow.map(({ path }) => path))];
    const hidden = paths.filter((path, index) =>
      paths.slice(0, index).some((earlier) => {
        const shape = earlier.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/{}]+');
        return earlier !== path && new RegExp(`^${shape}$`).test(path);
      }),
    );
    expect(hidden).toEqual([]);
  });
});
