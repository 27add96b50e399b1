/** What a stage found that is no rule, in words. The API tells it in those of the server. */

/** A message and what goes into it. */
export interface StageDetail {
  readonly key: `queries.groupBy.${'default' | 'subnet' | 'manual' | 'mac' | 'key'}`;
  readonly of: string;
}

const GROUP_SOURCE = /^(default|subnet|manual|mac|key)(?: ([^ ]+))?$/;

/** What gave a client its group; null for what has no words of its own, which is shown as it is. */
export function stageDetail(stage: string, detail: string): StageDetail | null {
  const found = stage === 'client_group' ? GROUP_SOURCE.exec(detail) : null;
  if (found === null) return null;
  const [, source, of = ''] = found;
  return { key: `queries.groupBy.${source}` as StageDetail['key'], of };
}
