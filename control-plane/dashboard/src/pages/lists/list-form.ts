/** Form values of a list, and the bodies of its requests. */
import type { CallOf } from '../../../../../shared/api/client/typed-client.ts';
import type { Source } from './list-rows.ts';

export interface ListFields {
  readonly name: string;
  readonly url: string;
  readonly comment: string;
  readonly subdomains: boolean;
  /** Ids of the groups; null for every group. */
  readonly groupIds: readonly number[] | null;
}

/** Form values of an existing or a new list. */
export function fieldsOfList(source: Source | null): ListFields {
  return {
    name: source?.name ?? '',
    url: source?.url ?? '',
    comment: source?.comment ?? '',
    subdomains: source?.subdomains ?? false,
    groupIds: source === null || source.group_ids.length === 0 ? null : source.group_ids,
  };
}

/** Body of the request. If a list has no name, its address is used as the name. */
export function bodyOfList(fields: ListFields): CallOf<'POST /blocklist-sources'>['body'] {
  const url = fields.url.trim();
  return {
    name: fields.name.trim() || url.replace(/^https?:\/\//, '').slice(0, 200),
    url,
    comment: fields.comment.trim(),
    subdomains: fields.subdomains,
    group_ids: [...(fields.groupIds ?? [])],
  };
}

/** Body of the request for custom rules, which have no address. */
export function bodyOfRules(fields: ListFields): Omit<ReturnType<typeof bodyOfList>, 'url'> {
  const { url: _none, ...body } = bodyOfList(fields);
  return body;
}
