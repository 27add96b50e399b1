/** HTTP of `{api}/blocklist-sources` and `{api}/allowlist-sources`. `list-sources.ts` does the work. */
import type { IdParams } from '../../../shared/api/fields.ts';
import type {
  BlocklistSource,
  SourceCreate,
  SourceUpdate,
  UnusedLine,
} from '../../../shared/api/policy/sources-api.ts';
import type { ApiContext } from '../../api/api-context.ts';
import { authorOf } from '../../api/route.ts';
import type { RouteRequest } from '../../api/route.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';

type ById = RouteRequest<IdParams>;

/** The handlers for sources of one kind. */
export function sourceHandlers(kind: SourceKind) {
  return {
    list: ({ sources }: ApiContext): Promise<BlocklistSource[]> => sources.list(kind),
    read: ({ sources }: ApiContext, { params }: ById): Promise<BlocklistSource> =>
      sources.read(kind, params.id),
    create: (
      { sources }: ApiContext,
      request: RouteRequest<unknown, unknown, SourceCreate>,
    ): Promise<BlocklistSource> => sources.create(kind, request.body, authorOf(request)),
    update: (
      { sources }: ApiContext,
      request: RouteRequest<IdParams, unknown, SourceUpdate>,
    ): Promise<BlocklistSource> => sources.update(kind, request.params.id, request.body, authorOf(request)),
    remove: ({ sources }: ApiContext, request: ById): Promise<void> =>
      sources.remove(kind, request.params.id, authorOf(request)),
    refresh: ({ sources }: ApiContext, { params }: ById): Promise<BlocklistSource> =>
      sources.refresh(kind, params.id),
    refreshAll: ({ sources }: ApiContext): Promise<BlocklistSource[]> => sources.refreshAll(kind),
    approve: ({ sources }: ApiContext, request: ById): Promise<BlocklistSource> =>
      sources.approve(kind, request.params.id, authorOf(request)),
    unusedLines: ({ sources }: ApiContext, { params }: ById): Promise<UnusedLine[]> =>
      sources.unusedLines(kind, params.id),
  };
}
