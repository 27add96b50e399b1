import { describe, expect, test } from '@jest/globals';
import { BAR_PATHS, LISTED_PAGES, PAGES, SECTIONS } from './pages.ts';

describe('PAGES, the pages of the dashboard,', () => {
  test('have a path of one segment, so that relative URLs work below a proxy path', () => {
    const paths = PAGES.map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    expect(paths.filter((path) => !/^\/[a-z-]*$/.test(path))).toEqual([]);
  });

  test('each have an icon in the navigation', () => {
    expect(new Set(LISTED_PAGES.map(({ icon }) => icon)).size).toBe(LISTED_PAGES.length);
  });

  test('are in a section of the navigation, and the first page is in the bar on phones', () => {
    expect(PAGES.every(({ section }) => SECTIONS.includes(section))).toBe(true);
    expect(BAR_PATHS).toContain(PAGES[0]?.path);
  });
});
