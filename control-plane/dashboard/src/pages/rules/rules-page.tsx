/** Domain rules, regex rules and temporary rules. */
import { ClipboardPaste, ScrollText } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { Bar, Card, Page } from '../../ui/display/page.tsx';
import { BulkPaste } from './bulk-paste.tsx';
import { GrantList } from './grant-list.tsx';
import { RuleDialog } from './rule-dialog.tsx';
import type { ManagedDomain, Rule, RuleKind } from './rule-rows.ts';
import { RuleTable } from './rule-table.tsx';
import { AddableList } from '../../ui/display/addable-list.tsx';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask } from '../../api/ask.ts';

const DEFAULTS = { tab: 'domain', search: '', action: '', group: '', page: '0' };
const TABS = ['domain', 'expression', 'grants'] as const;

export default function RulesPage(): ReactNode {
  const { say } = useText();
  const [{ tab: written }, setFields] = useUrlState(DEFAULTS);
  const tab = TABS.find((one) => one === written) ?? 'domain';
  const domains = useManagedDomains();
  const filters = useAsk('GET /regex-filters', {}, { enabled: tab === 'expression' });
  const [isPasting, setPasting] = useState(false);
  return (
    <Page
      title={say('page.rules')}
      lead={say('rules.lead')}
      actions={
        <ForAdmins>
          <Button
            icon={ClipboardPaste}
            isDisabled={domains.data === undefined}
            onPress={() => setPasting(true)}
          >
            {say('bulk.open')}
          </Button>
        </ForAdmins>
      }
    >
      <Bar>
        <Segments
          label={say('field.kind')}
          value={tab}
          onChange={(chosen) => setFields({ ...DEFAULTS, tab: chosen })}
          choices={TABS.map((id) => ({ id, text: say(`rules.tab.${id}`) }))}
        />
      </Bar>
      <Card>
        {tab === 'domain' && <Rules key={tab} kind="domain" of={domains} />}
        {tab === 'expression' && <Rules key={tab} kind="expression" of={filters} />}
        {tab === 'grants' && <GrantList />}
      </Card>
      {isPasting && <BulkPaste existing={domains.data ?? []} onClose={() => setPasting(false)} />}
    </Page>
  );
}

interface RulesProps {
  readonly kind: RuleKind;
  readonly of: UseQueryResult<Rule[]>;
}

function Rules({ kind, of }: RulesProps): ReactNode {
  const { say } = useText();
  return (
    <AddableList
      of={of}
      icon={ScrollText}
      emptyTitle={say(`rules.empty.${kind}`)}
      emptyText={say(`rules.empty.${kind}Text`)}
      addText={say(`rules.add.${kind}`)}
      form={(close) => <RuleDialog kind={kind} rule={null} onClose={close} />}
    >
      {(rules) => <RuleTable kind={kind} rules={rules} />}
    </AddableList>
  );
}

const PAGE = 1_000;

/** Loads all domain rules, because the page's filters apply to all of them. */
function useManagedDomains(): UseQueryResult<ManagedDomain[]> {
  return useQuery({
    queryKey: ['GET /managed-domains', 'all'],
    queryFn: async ({ signal }) => {
      const rules: ManagedDomain[] = [];
      for (;;) {
        const { data, total } = await ask('GET /managed-domains', {
          query: { limit: PAGE, offset: rules.length },
          signal,
        });
        rules.push(...data);
        if (data.length === 0 || rules.length >= total) return rules;
      }
    },
    placeholderData: keepPreviousData,
  });
}
