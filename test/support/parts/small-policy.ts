/** Lists, rows and settings of a small policy, for tests of publishing. */
import type { CompiledRules } from '../../../control-plane/policy/compile/table/compiled-rules.ts';
import type { BlockingSettings } from '../../../control-plane/policy/change/blocking-settings.ts';
import { NO_POLICY_ROWS, type PolicyRows } from '../../../control-plane/policy/change/rows.ts';
import type { DecidingRule } from '../../../control-plane/policy/snapshot/rule-names/rule-history.ts';
import { nameFromText } from '../../../shared/dns/name.ts';
import { RuleOrigin } from '../../../shared/snapshot/rule-origin.ts';
import { RuleKind } from '../../../shared/snapshot/rule-table.ts';
import { compiledFrom } from './test-rules.ts';

const { BLOCK_EXACT, BLOCK_SUFFIX } = RuleKind;

/** Settings with which blocked names are answered with the null address. */
export const SMALL_BLOCKING: BlockingSettings = {
  enabled: true,
  mode: 'null_ip',
  ttlSecs: 10,
  customIpv4: '',
  customIpv6: '',
};
/** Rules by attribute. 0: list 10 blocks a.example; 1: lists 10 and 20 block b.example. */
export const SMALL_RULES: CompiledRules = compiledFrom([
  {
    id: 10,
    names: [
      ['a.example', BLOCK_EXACT],
      ['b.example', BLOCK_EXACT],
    ],
  },
  { id: 20, names: [['b.example', BLOCK_SUFFIX]] },
]);
/** Groups 1 and 7; list 10 and the manual rules, except the regex filter, belong to group 7. */
export const SMALL_ROWS: PolicyRows = {
  ...NO_POLICY_ROWS,
  groups: [
    { id: 1, enabled: true },
    { id: 7, enabled: true },
  ],
  sources: [
    { id: 10, name: 'ads', kind: 'block', enabled: true, groupIds: [7] },
    { id: 20, name: 'malware', kind: 'block', enabled: true, groupIds: [] },
  ],
  managedDomains: [
    { id: 4, name: 'no games', domain: 'games.example', suffix: true, action: 'deny', groupId: 7 },
  ],
  regexFilters: [{ id: 5, name: 'ad words', pattern: '^ads?[0-9]', action: 'deny', groupId: null }],
  blockedServices: [
    { serviceId: 'tube', serviceName: 'Tube', groupId: 7, domains: ['tube.example'], exact: [] },
  ],
};

/** A list's rule for b.example, in the form in which a log record identifies it. */
export function listedRule(index: number, kinds: number, groupId: number): DecidingRule {
  return { origin: RuleOrigin.LIST, index, kinds, name: nameFromText('b.example')!, groupId };
}
