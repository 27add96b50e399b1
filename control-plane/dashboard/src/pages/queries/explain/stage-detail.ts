/** Texts for the details of stages other than rules, which the API returns in English. */
import type { MessageKey } from '../../../i18n/language.ts';

/** A message and its values. */
export interface StageDetail {
  readonly key: MessageKey;
  readonly of: string;
  /** Seconds of a duration; if set, the text of the duration replaces `of`. */
  readonly secs?: number;
  /** Other numbers of the message by name. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** Separator before the second part of a detail. */
const SEPARATOR = / (?=\((?:no|the) client )|; (?=blocking )/;

/**
 * Patterns that match the name of a stage and a part of its detail, with their messages; empty = no message is needed.
 */
const MESSAGES: readonly (readonly [RegExp, MessageKey | `${string}$1` | ''])[] = [
  [/^access may query this server$/, 'queries.access.may'],
  [
    /^access may not query this server \(dns.allowed_clients, dns.blocked_clients\)$/,
    'queries.access.mayNot',
  ],
  [/^admission no rate limit$/, 'queries.why.noLimit'],
  [/^admission rate limit (?<rate>\d+)\/s, burst (?<burst>\d+)$/, 'queries.why.limit'],
  [/^admission rate limit (?<rate>\d+)\/s, burst (?<burst>\d+), dry run$/, 'queries.why.limitDryRun'],
  [/^cache ttl (?<of>\d+)$/, 'queries.why.cacheTtl'],
  [/^client_group (default|subnet|manual|mac|key|chosen)(?: (?<of>\S+))?$/, 'queries.groupBy.$1'],
  [/^client_group \(no client has the key (?<of>\S+)\)$/, 'queries.why.keyUnknown'],
  [/^client_group \(the client of this key has no group: (?<of>\S+)\)$/, 'queries.why.keyNoGroup'],
  [/^dnssec (bogus|indeterminate|insecure|secure|unchecked)$/, 'queries.dnssec.$1'],
  [/^safe_search (?<of>.+), not enforced: a grant or the schedule /, 'queries.why.safeFreed'],
  [/^safe_search (?<of>.+), not enforced: a list's exception /, 'queries.why.safeList'],
  [/^safe_search (?<of>.+), not enforced: an allow rule /, 'queries.why.safeRule'],
  [/^schedule_override None$/, ''],
  [/^schedule_override AllowAll$/, 'schedules.action.allow'],
  [/^schedule_override BlockAll$/, 'schedules.action.block'],
  [/^schedule_override blocking is disabled$/, 'queries.why.blockingOff'],
  [/^special_names zone (?<of>\S+)$/, 'queries.why.ownZone'],
];

/** Messages for the detail of a stage. Null if a part has no message; the detail is then shown unchanged. */
export function stageDetail(stage: string, detail: string): readonly StageDetail[] | null {
  const found: StageDetail[] = [];
  for (const part of detail.split(SEPARATOR)) {
    const text = `${stage} ${part}`;
    const [pattern, message] = MESSAGES.find(([one]) => one.test(text)) ?? [];
    if (pattern === undefined || message === undefined) return null;
    const match = pattern.exec(text);
    const { of = '', rate, burst } = match?.groups ?? {};
    const key = message.replace('$1', match?.[1] ?? '') as MessageKey;
    if (key === 'queries.why.cacheTtl') found.push({ key, of: '', secs: Number(of) });
    else if (rate !== undefined)
      found.push({ key, of, counts: { rate: Number(rate), burst: Number(burst) } });
    else if (message !== '') found.push({ key, of });
  }
  return found;
}
