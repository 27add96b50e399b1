/**
 * HTTP routes of `{api}/blocklist-sources`, `{api}/allowlist-sources` and its alias `{api}/whitelist-sources`.
 * `list-sources.ts` does the work.
 */
import { IdParams } from '../../../shared/api/fields.ts';
import {
  BlocklistSource,
  BlocklistSourceList,
  SourceCreateBody,
  SourceUpdateBody,
  UnusedLineList,
} from '../../../shared/api/policy/sources-api.ts';
import {
  CustomText,
  MAX_TEXT_BYTES,
  TextQuery,
  TextVerdict,
} from '../../../shared/api/policy/custom-text-api.ts';
import type { SourceKind } from '../../../shared/policy/source-kind.ts';
import { entity, tagsIn } from '../../api/entity.ts';
import type { Entity } from '../../api/entity.ts';
import { authorOf, route } from '../../api/route.ts';
import { TEXT_MEDIA_TYPE, textBody } from '../../api/text-body.ts';
import type { Route } from '../../api/route.ts';
import type { CustomRules } from './custom-rules.ts';
import type { ListSources } from './list-sources.ts';

/** The methods of `ListSources` that the routes use. */
export type SourceLife = Pick<
  ListSources,
  'list' | 'read' | 'create' | 'update' | 'remove' | 'refresh' | 'refreshAll' | 'approve' | 'unusedLines'
> & { readonly custom: Pick<CustomRules, 'read' | 'preview' | 'write'> };

/** Path and terms for one kind of source. */
interface Place {
  readonly sources: SourceLife;
  readonly path: string;
  readonly kind: SourceKind;
  /** Term for one source in messages. */
  readonly noun: string;
  readonly source: Entity;
}

const tag = 'Lists';
/**
 * Enough for a text of maximum size as a JSON string, in which line ends, tabs and quotes need two bytes, and longer
 * escapes are rare.
 */
const CREATE_LIMIT_BYTES = 2 * MAX_TEXT_BYTES;

/** The routes of blocklist and allowlist sources. */
export function sourceRoutes({ sources }: { sources: SourceLife }): Route[] {
  const paths: Pick<Place, 'path' | 'kind' | 'noun'>[] = [
    { path: '/blocklist-sources', kind: 'block', noun: 'blocklist source' },
    { path: '/allowlist-sources', kind: 'allow', noun: 'allowlist source' },
    { path: '/whitelist-sources', kind: 'allow', noun: 'allowlist source' },
  ];
  const places = paths.map((place) => ({ sources, source: sourceEntity(sources, place), ...place }));
  return places.flatMap((place) => [
    listSources(place),
    createSource(place),
    refreshAllSources(place),
    readSource(place),
    updateSource(place),
    removeSource(place),
    refreshSource(place),
    approveSource(place),
    listUnusedLines(place),
    readText(place),
    writeText(place),
  ]);
}

function sourceEntity(sources: SourceLife, { path, kind }: Pick<Place, 'path' | 'kind'>): Entity {
  return entity({
    path: `${path}/{id}`,
    params: IdParams,
    answer: BlocklistSource,
    body: SourceUpdateBody,
    read: (db, { id }) => sources.read(kind, id, db),
  });
}

function withArticle(noun: string): string {
  return `${noun.startsWith('a') ? 'an' : 'a'} ${noun}`;
}

function listSources({ sources, path, kind, noun }: Place): Route {
  return route({
    method: 'GET',
    path,
    access: 'viewer',
    tag,
    summary: `All ${noun}s`,
    answer: BlocklistSourceList,
    handle: () => sources.list(kind),
  });
}

function createSource({ sources, path, kind, noun, source }: Place): Route {
  return route({
    method: 'POST',
    path,
    access: 'admin',
    tag,
    summary:
      `Create ${withArticle(noun)}. A URL is fetched in the background, starting immediately; custom rules are ` +
      'active immediately',
    body: SourceCreateBody,
    bodyLimitBytes: CREATE_LIMIT_BYTES,
    status: 201,
    answer: BlocklistSource,
    entity: source,
    errors: { 409: 'another list of this kind has this URL' },
    handle: (request) => sources.create(kind, request.body, authorOf(request)),
  });
}

function refreshAllSources({ sources, path, kind, noun }: Place): Route {
  return route({
    method: 'POST',
    path: `${path}/refresh`,
    access: 'admin',
    tag,
    summary: `Fetch every enabled ${noun} now`,
    status: 202,
    answer: BlocklistSourceList,
    handle: (request) => sources.refreshAll(kind, authorOf(request)),
  });
}

function readSource({ sources, path, kind, noun, source }: Place): Route {
  return route({
    method: 'GET',
    path: `${path}/{id}`,
    access: 'viewer',
    tag,
    summary: `One ${noun}`,
    params: IdParams,
    answer: BlocklistSource,
    entity: source,
    handle: ({ params }) => sources.read(kind, params.id),
  });
}

function updateSource({ sources, path, kind, noun, source }: Place): Route {
  return route({
    method: 'PUT',
    path: `${path}/{id}`,
    access: 'admin',
    tag,
    summary: `Change ${withArticle(noun)}; absent fields keep their value. A new URL is fetched in the background`,
    params: IdParams,
    body: SourceUpdateBody,
    answer: BlocklistSource,
    entity: source,
    errors: { 409: 'the URL is in use' },
    handle: (request) => sources.update(kind, request.params.id, request.body, authorOf(request)),
  });
}

function removeSource({ sources, path, kind, noun, source }: Place): Route {
  return route({
    method: 'DELETE',
    path: `${path}/{id}`,
    access: 'admin',
    tag,
    summary: `Delete ${withArticle(noun)}; its rules become inactive immediately`,
    params: IdParams,
    entity: source,
    handle: (request) => sources.remove(kind, request.params.id, authorOf(request)),
  });
}

function refreshSource({ sources, path, kind, noun }: Place): Route {
  return route({
    method: 'POST',
    path: `${path}/{id}/refresh`,
    access: 'admin',
    tag,
    summary: `Fetch ${withArticle(noun)} now`,
    params: IdParams,
    status: 202,
    answer: BlocklistSource,
    errors: { 409: 'the list has custom rules, which are not fetched' },
    handle: (request) => sources.refresh(kind, request.params.id, authorOf(request)),
  });
}

function approveSource({ sources, path, kind, noun }: Place): Route {
  return route({
    method: 'POST',
    path: `${path}/{id}/approve`,
    access: 'admin',
    tag,
    summary: `Apply the held update of ${withArticle(noun)}`,
    params: IdParams,
    answer: BlocklistSource,
    errors: { 409: 'the list has no held update' },
    handle: (request) => sources.approve(kind, request.params.id, authorOf(request)),
  });
}

function listUnusedLines({ sources, path, kind, noun }: Place): Route {
  return route({
    method: 'GET',
    path: `${path}/{id}/unused-lines`,
    access: 'viewer',
    tag,
    summary: `The first lines without a rule in ${withArticle(noun)}, invalid ones first`,
    params: IdParams,
    answer: UnusedLineList,
    handle: ({ params }) => sources.unusedLines(kind, params.id),
  });
}

function readText({ sources, path, kind, noun }: Place): Route {
  return route({
    method: 'GET',
    path: `${path}/{id}/text`,
    access: 'viewer',
    tag,
    summary: `The text of ${withArticle(noun)} with custom rules, with an ETag`,
    params: IdParams,
    media: [TEXT_MEDIA_TYPE],
    handle: async ({ params, response }) => {
      const { text, contentKey } = await sources.custom.read(kind, params.id);
      response.set({ 'Content-Type': `${TEXT_MEDIA_TYPE}; charset=utf-8`, ETag: etagOf(contentKey) });
      response.send(text);
    },
  });
}

function writeText({ sources, path, kind, noun }: Place): Route {
  return route({
    method: 'PUT',
    path: `${path}/{id}/text`,
    access: 'admin',
    tag,
    summary:
      `Replace the text of ${withArticle(noun)} with custom rules, if the text still has the ETag in If-Match; the ` +
      'rules are active when the response is sent',
    params: IdParams,
    query: TextQuery,
    body: CustomText,
    form: textBody(MAX_TEXT_BYTES),
    answer: TextVerdict,
    errors: { 412: 'the text has changed since the ETag of If-Match was read' },
    handle: async (request) => {
      const { params, query, body, http, response } = request;
      const ifMatch = http.get('If-Match');
      const expected = ifMatch === undefined ? null : tagsIn(ifMatch);
      if (query.dry_run) return sources.custom.preview(kind, params.id, body);
      const change = { author: authorOf(request), expected };
      const { contentKey, ...verdict } = await sources.custom.write(kind, params.id, body, change);
      response.set('ETag', etagOf(contentKey));
      return verdict;
    },
  });
}

function etagOf(contentKey: string): string {
  return `"${contentKey}"`;
}
