/** HTTP routes of `{api}/blocklist-sources/preview` and the same for allowlists: checks a list before it is added. */
import { ListPreview, ListPreviewBody } from '../../../shared/api/lists/list-preview-api.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import { route } from '../../api/route.ts';
import type { Route } from '../../api/route.ts';
import type { ListPreviews } from './list-previews.ts';

/** The routes of previews, for blocklists and allowlists. */
export function listPreviewRoutes(context: { listPreviews: Pick<ListPreviews, 'preview'> }): Route[] {
  const row = (path: string, kind: SourceKind): Route =>
    route({
      method: 'POST',
      path: `${path}/preview`,
      access: 'admin',
      tag: 'Lists',
      summary:
        'Fetch a list without adding it, and show its size, its lines without a rule, and its overlap with ' +
        'active lists',
      body: ListPreviewBody,
      answer: ListPreview,
      waits: false,
      handle: ({ body, gone }) => context.listPreviews.preview(kind, body, gone),
    });
  return [
    row('/blocklist-sources', 'block'),
    row('/allowlist-sources', 'allow'),
    row('/whitelist-sources', 'allow'),
  ];
}
