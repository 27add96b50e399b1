import { describe, expect, test } from '@jest/globals';
import { nameToText } from '../../shared/dns/name.ts';
import { RuleOrigin } from '../../shared/snapshot/rule-origin.ts';
import { PolicyPipeline } from '../../test/support/parts/policy-pipeline.ts';
import { queryFor } from '../../test/support/parts/test-lists.ts';
import { rulesContaining } from './containing-rules.ts';

const BLOCK = { kind: 'block', subdomains: false } as const;

describe('rulesContaining()', () => {
  test('finds the rules at a name and its parents, and patterns, of each list', () => {
    const weir = new PolicyPipeline();
    const snapshot = weir.use([
      { text: 'www.ads.example\n||ads.example^\nother.example\n', reading: BLOCK },
      { text: '||*.a*s.example^\n', reading: BLOCK },
    ]);
    const found = rulesContaining(queryFor('www.ads.example', snapshot), snapshot);
    expect(found.map(({ origin, name }) => [origin, nameToText(name)])).toEqual([
      [RuleOrigin.LIST, 'www.ads.example'],
      [RuleOrigin.LIST, 'ads.example'],
      [RuleOrigin.SPECIAL, '.'],
    ]);
    expect(rulesContaining(queryFor('example', snapshot), snapshot)).toEqual([]);
  });
});
