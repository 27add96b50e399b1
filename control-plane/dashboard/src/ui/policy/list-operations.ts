/** API operations on blocklists and allowlists. */
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';

/** The operations for one kind of list. Allowlists have different paths than blocklists, but the same schemas. */
export function operationsOf(kind: SourceKind) {
  const of = <Name extends string>(name: Name): Name =>
    (kind === 'block' ? name : name.replace('/blocklist-', '/allowlist-')) as Name;
  return {
    list: of('GET /blocklist-sources'),
    stats: of('GET /blocklist-sources/stats'),
    one: of('GET /blocklist-sources/{id}'),
    create: of('POST /blocklist-sources'),
    preview: of('POST /blocklist-sources/preview'),
    change: of('PUT /blocklist-sources/{id}'),
    remove: of('DELETE /blocklist-sources/{id}'),
    refresh: of('POST /blocklist-sources/{id}/refresh'),
    refreshAll: of('POST /blocklist-sources/refresh'),
    approve: of('POST /blocklist-sources/{id}/approve'),
    text: of('GET /blocklist-sources/{id}/text'),
    writeText: of('PUT /blocklist-sources/{id}/text'),
    badLines: of('GET /blocklist-sources/{id}/unused-lines'),
  } as const;
}
