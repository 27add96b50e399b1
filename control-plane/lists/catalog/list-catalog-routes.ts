/** HTTP routes of `{api}/list-catalog`: well-known lists that users can add by name. */
import { KnownListList } from '../../../shared/api/lists/list-catalog-api.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import { KNOWN_LISTS } from './known-lists.ts';

/** The route of the catalogue. */
export function listCatalogRoutes(_context: object): Route[] {
  return [
    route({
      method: 'GET',
      path: '/list-catalog',
      access: 'viewer',
      tag: 'Lists',
      summary:
        'Well-known lists that users can add, with purpose, licence and home page of each; Weir contains ' +
        'only their URLs',
      answer: KnownListList,
      handle: () => [...KNOWN_LISTS],
    }),
  ];
}
