/** All groups, or all settings of one group. */
import { Baby, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ForAdmins } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Page } from '../../ui/display/page.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { GroupForm } from './group-form.tsx';
import { GroupList } from './group-list.tsx';
import { GroupView } from './group-view.tsx';
import { PlanDialog } from './plan/plan-form.tsx';

const DEFAULTS = { open: '' };

export default function GroupsPage(): ReactNode {
  const { say } = useText();
  const [{ open }] = useUrlState(DEFAULTS);
  const [isAdding, setAdding] = useState(false);
  const [isPlanning, setPlanning] = useState(false);
  const groups = useAsk('GET /groups', {});
  if (/^[1-9]\d{0,9}$/.test(open)) return <GroupView key={open} id={Number(open)} />;
  return (
    <Page
      title={say('page.groups')}
      lead={say('groups.lead')}
      actions={
        <ForAdmins>
          <Button kind="main" icon={Baby} onPress={() => setPlanning(true)}>
            {say('plan.title')}
          </Button>
          <Button icon={Plus} onPress={() => setAdding(true)}>
            {say('groups.add')}
          </Button>
        </ForAdmins>
      }
    >
      <Answered of={groups}>{(rows) => <GroupList groups={rows} />}</Answered>
      {isPlanning && <PlanDialog groupId={null} onClose={() => setPlanning(false)} />}
      {isAdding && <GroupForm group={null} onClose={() => setAdding(false)} />}
    </Page>
  );
}
