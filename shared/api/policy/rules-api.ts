/** Requests and responses of `{api}/managed-domains` and `{api}/regex-filters`: rules that users write. */
import { z } from 'zod';
import { canonicalDomainRule } from '../../policy/domain-rule.ts';
import { compileExpression } from '../../automata/expression.ts';
import { readRegexRule, refuseRegexFilter } from '../../automata/regex-filter.ts';
import { Comment, Id, label, Page, pageOf, text, Timestamp } from '../fields.ts';

/** Longest pattern of a regex filter. */
const MAX_PATTERN_LENGTH = 1000;

/** Action of a rule. */
export const Action = z.enum(['allow', 'deny']);
/** The group that a rule is for. */
export const GroupId = Id.nullable().meta({ description: 'group that the rule is for; null = every group' });

/** A name for a rule, in ASCII and lower case without a final dot. */
export const Domain = text(1020).transform((value, context) => {
  const domain = canonicalDomainRule(value);
  if (domain !== null) return domain;
  context.addIssue('expected a domain name, with `*.` before it to cover its subdomains');
  return z.NEVER;
});

const PATTERN_META = {
  description:
    'regular expression in RE2 syntax. It matches anywhere in a name unless it is anchored, and is ' +
    'never matched against addresses. The options `;querytype=A,AAAA`, `;querytype=!A` and `;reply=` ' +
    '(NODATA, NXDOMAIN, REFUSED or an address) may follow. A pattern that matches every name is ' +
    'refused, except `.*` and patterns with `;querytype=`',
};

/**
 * A regular expression, with or without options. Accepted if it runs in linear time and matches at least one name. Only
 * patterns that clearly intend it may match every name.
 */
export const Pattern = text(MAX_PATTERN_LENGTH)
  .min(1)
  .superRefine((value, context) => {
    const reason = refuseRegexFilter(value);
    if (reason !== null) context.addIssue(reason);
  })
  .meta(PATTERN_META);

/** A pattern that an older version accepted; if it would be rejected now, it stays inactive. */
export const StoredPattern = text(MAX_PATTERN_LENGTH)
  .min(1)
  .superRefine((value, context) => {
    const rule = readRegexRule(value);
    const compiled = 'reason' in rule ? rule : compileExpression(rule.expression);
    if ('reason' in compiled) context.addIssue(compiled.reason);
  });

const shared = {
  name: label(200),
  action: Action,
  group_id: GroupId,
  comment: z.string(),
  enabled: z.boolean(),
};
const changes = {
  name: label(200).optional(),
  action: Action.optional(),
  group_id: GroupId.optional(),
  comment: Comment.optional(),
  enabled: z.boolean().optional(),
};
/** Optional fields of a new rule; its default name is its domain or pattern. */
const defaults = {
  name: label(200).optional(),
  action: Action.default('deny'),
  group_id: GroupId.default(null),
  comment: Comment.default(''),
  enabled: z.boolean().default(true),
};
const times = { created_at: Timestamp, updated_at: Timestamp };

export const ManagedDomain = z
  .strictObject({ id: Id, domain: z.string(), ...shared, name: z.string(), ...times })
  .meta({ id: 'ManagedDomain' });
export type ManagedDomain = z.infer<typeof ManagedDomain>;
export const ManagedDomainPage = pageOf(ManagedDomain).meta({ id: 'ManagedDomainPage' });
export type ManagedDomainPage = z.infer<typeof ManagedDomainPage>;

export const ManagedDomainQuery = Page.extend({
  search: text(255).min(1).optional().meta({ description: 'part of the domain, name or comment' }),
});
export type ManagedDomainQuery = z.output<typeof ManagedDomainQuery>;

export const ManagedDomainCreateBody = z
  .strictObject({ domain: Domain, ...defaults })
  .meta({ id: 'ManagedDomainCreate' });
export type ManagedDomainCreate = z.output<typeof ManagedDomainCreateBody>;

/** Absent fields keep their value. */
export const ManagedDomainUpdateBody = z
  .strictObject({ domain: Domain.optional(), ...changes })
  .meta({ id: 'ManagedDomainUpdate' });

export const RegexFilter = z
  .strictObject({ id: Id, pattern: z.string(), ...shared, name: z.string(), ...times })
  .meta({ id: 'RegexFilter' });
export type RegexFilter = z.infer<typeof RegexFilter>;
export const RegexFilterList = z.array(RegexFilter);

export const RegexFilterCreateBody = z
  .strictObject({ pattern: Pattern, ...defaults })
  .meta({ id: 'RegexFilterCreate' });
export type RegexFilterCreate = z.output<typeof RegexFilterCreateBody>;

/** New filters of one request. A pattern that several groups share is compiled once. */
export function regexFiltersOf(max: number) {
  const pattern = text(MAX_PATTERN_LENGTH).min(1).meta(PATTERN_META);
  return z.array(z.strictObject({ pattern, ...defaults })).superRefine((rows, context) => {
    // If there are too many rows, the request is rejected anyway; compiling each pattern would take up to 50 ms.
    if (rows.length > max) return;
    const reasons = new Map<string, string | null>();
    for (const [index, { pattern: value }] of rows.entries()) {
      if (!reasons.has(value)) reasons.set(value, refuseRegexFilter(value));
      const message = reasons.get(value);
      if (typeof message === 'string')
        context.addIssue({ code: 'custom', path: [index, 'pattern'], message });
    }
  });
}

/** Body of a change; absent fields keep their value. */
export const RegexFilterUpdateBody = z
  .strictObject({ pattern: Pattern.optional(), ...changes })
  .meta({ id: 'RegexFilterUpdate' });
