/** Simulates a policy draft with the queries in the log. Nothing is stored. */
import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useMe } from '../../api/session.tsx';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { Bar, Card, Page } from '../../ui/display/page.tsx';
import { Callout, Empty } from '../../ui/display/states.tsx';
import { SimulationView } from '../../ui/policy/simulation-view.tsx';
import { useSimulation } from '../../ui/policy/use-simulation.ts';
import { ChangeForm } from './change-form.tsx';
import { ChangeRow } from './change-row.tsx';
import { draftOf, keyOf } from './draft.ts';
import type { DraftChange } from './draft.ts';
import styles from './simulate-page.module.css';

const DEFAULTS = { period: '7d' };
const PERIODS = ['24h', '7d', '30d'] as const;

export default function SimulatePage(): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const [{ period: written }, setFields] = useUrlState(DEFAULTS);
  const period = PERIODS.find((one) => one === written) ?? '7d';
  const [changes, setChanges] = useState<readonly DraftChange[]>([]);
  /** Draft and period of the shown result, which is out of date if the user has changed either of them since. */
  const [asked, setAsked] = useState('');
  const simulation = useSimulation();
  const draft = draftOf(changes, period);
  const isOld = simulation.state === 'done' && asked !== JSON.stringify(draft);
  const add = (change: DraftChange): void =>
    setChanges([...changes.filter((one) => keyOf(one) !== keyOf(change)), change]);
  const drop = (change: DraftChange): void =>
    setChanges((before) => before.filter((one) => keyOf(one) !== keyOf(change)));
  const start = (): void => {
    setAsked(JSON.stringify(draft));
    simulation.run(draft);
  };
  if (!isAdmin)
    return (
      <Page title={say('page.simulate')} lead={say('simulate.lead')}>
        <Callout tone="info">{say('simulate.adminsOnly')}</Callout>
      </Page>
    );
  return (
    <Page title={say('page.simulate')} lead={say('simulate.lead')}>
      <div className={styles['halves']}>
        <Card title={say('simulate.draft')}>
          {changes.length === 0 ? (
            <Empty icon={FlaskConical} title={say('simulate.empty')}>
              <p>{say('simulate.emptyText')}</p>
            </Empty>
          ) : (
            <ul className={styles['changes']}>
              {changes.map((change) => (
                <ChangeRow
                  key={keyOf(change)}
                  change={change}
                  canDo={simulation.state === 'done'}
                  onDrop={() => drop(change)}
                />
              ))}
            </ul>
          )}
          <Bar>
            <Segments
              label={say('field.period')}
              value={period}
              choices={PERIODS.map((id) => ({ id, text: say(`period.${id}`) }))}
              onChange={(chosen) => setFields({ period: chosen })}
            />
            <Button
              kind="main"
              icon={FlaskConical}
              isDisabled={changes.length === 0}
              isPending={simulation.state === 'running'}
              onPress={start}
            >
              {say('simulate.ask')}
            </Button>
          </Bar>
        </Card>
        <Card title={say('simulate.more')}>
          <ChangeForm onAdd={add} />
        </Card>
      </div>
      {simulation.state !== 'idle' && (
        <Card title={say('simulate.answer')}>
          {isOld && <Callout tone="info">{say('simulate.old')}</Callout>}
          <SimulationView of={simulation} period={say(`period.${period}`)} />
        </Card>
      )}
    </Page>
  );
}
