import { describe, expect, test } from '@jest/globals';
import { matching } from './matching-services.ts';

const service = (
  id: string,
  name: string,
  ...domains: string[]
): { id: string; name: string; domains: string[] } => ({
  id,
  name,
  domains,
});
const SERVICES = [
  service('films', 'Films', 'films.example', 'videos.example'),
  service('shop', 'Shop', 'shop.example'),
  service('videos', 'Videos', 'v.example'),
];

describe('matching()', () => {
  test('finds by name before domains, whatever the case', () => {
    expect(matching(SERVICES, ' VIDEOS ').map(({ id }) => id)).toEqual(['videos', 'films']);
  });

  test('is all of them for no text, and none for one that nothing has', () => {
    expect(matching(SERVICES, ' ')).toEqual(SERVICES);
    expect(matching(SERVICES, 'zz')).toEqual([]);
  });
});
