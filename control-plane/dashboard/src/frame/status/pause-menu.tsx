/** Pauses blocking for a while, which the server ends, not this page. */
import { Pause } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Menu } from '../../ui/overlays/menu.tsx';
import { PAUSES_SECS, secsUntil, tomorrow } from './pause-choices.ts';

const PauseDialog = lazy(() => import('./pause-dialog.tsx'));

/** The button with its menu. */
export function PauseMenu(): ReactNode {
  const { say, format } = useText();
  const [isAsking, setAsking] = useState(false);
  const pause = useChange('POST /blocking', { done: 'blocking.paused' });
  const pauseFor = (secs: number | null): void =>
    void pause.run({ body: { enabled: false, timer_secs: secs } });
  const morning = tomorrow(new Date());
  return (
    <>
      <Menu
        label={say('blocking.pause')}
        button={
          <Button icon={Pause} isPending={pause.isPending}>
            {say('blocking.pause')}
          </Button>
        }
        actions={[
          ...PAUSES_SECS.map((secs) => ({
            id: String(secs),
            text: say('blocking.pauseFor', { span: format.span(secs) }),
            run: () => pauseFor(secs),
          })),
          {
            id: 'tomorrow',
            text: say('blocking.pauseTomorrow', { time: format.shortTime(morning) }),
            run: () => pauseFor(secsUntil(morning, new Date())),
          },
          { id: 'custom', text: say('blocking.pauseCustom'), run: () => setAsking(true) },
          { id: 'open', text: say('blocking.pauseOpen'), run: () => pauseFor(null) },
        ]}
      />
      {isAsking && (
        <Suspense fallback={null}>
          <PauseDialog onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  );
}
