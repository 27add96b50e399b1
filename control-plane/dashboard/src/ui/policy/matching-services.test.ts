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

describe('matching(), the services that match a search text,', () => {
  test('lists matches of the name before matches of domains, ignoring case', () => {
    expect(matching(SERVICES, ' VIDEOS ').map(({ id }) => id)).toEqual(['videos', 'films']);
  });

  test('returns all services for an empty text, and none if nothing matches', () => {
    expect(matching(SERVICES, ' ')).toEqual(SERVICES);
    expect(matching(SERVICES, 'zz')).toEqual([]);
  });
});
