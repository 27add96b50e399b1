/** What is local? Records, zones with servers of their own, and how names of this network are looked up. */
import type { ReactNode } from 'react';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Segments } from '../../ui/controls/segments.tsx';
import { Bar, Card, Page } from '../../ui/display/page.tsx';
import { LocalSettings } from './local-settings.tsx';
import { RecordList } from './record-list.tsx';
import { ZoneList } from './zone-list.tsx';

const DEFAULTS = { tab: 'records', search: '', type: '', source: '', from: '0' };
const TABS = ['records', 'zones', 'settings'] as const;

/** The page. */
export default function NamesPage(): ReactNode {
  const { say } = useText();
  const [{ tab: written }, setFields] = useUrlState(DEFAULTS);
  const tab = TABS.find((one) => one === written) ?? 'records';
  return (
    <Page title={say('page.names')} lead={say('names.lead')}>
      <Bar>
        <Segments
          label={say('names.part')}
          value={tab}
          onChange={(chosen) => setFields({ ...DEFAULTS, tab: chosen })}
          choices={TABS.map((id) => ({ id, text: say(`names.tab.${id}`) }))}
        />
      </Bar>
      <Card>
        {tab === 'records' && <RecordList />}
        {tab === 'zones' && <ZoneList />}
        {tab === 'settings' && <LocalSettings />}
      </Card>
    </Page>
  );
}
