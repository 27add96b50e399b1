/** Well-known lists by purpose, without those that already exist. */
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';

/** A list in the catalogue. */
export type KnownList = AnswerOf<'GET /list-catalog'>[number];

/** Lists for one purpose. */
export interface PurposeLists {
  readonly purpose: KnownList['purpose'];
  readonly lists: readonly KnownList[];
}

/** Lists of a kind, except those whose address is among `urls`, in the order of the catalogue. */
export function knownListsFor(
  all: readonly KnownList[],
  kind: SourceKind,
  urls: readonly string[],
): PurposeLists[] {
  const there = new Set(urls.map(plain));
  const offered = all.filter((list) => list.kind === kind && !there.has(plain(list.url)));
  const groups = Map.groupBy(offered, ({ purpose }) => purpose);
  return [...groups].map(([purpose, lists]) => ({ purpose, lists }));
}

function plain(url: string): string {
  return url.toLowerCase().replace(/\/$/, '');
}
