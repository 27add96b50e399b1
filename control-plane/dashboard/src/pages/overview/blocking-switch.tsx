/** The switch of all blocking: off for a while, and on again by itself. The server ends the while, not this page. */
import { Pause, Play, ShieldCheck, ShieldOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useMe } from '../../api/session.tsx';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Answered } from '../../ui/display/states.tsx';
import { Menu } from '../../ui/overlays/menu.tsx';
import styles from './overview-page.module.css';

const PAUSES_SECS = [300, 1_800, 3_600, 86_400] as const;

/** How it stands, and the switch. */
export function BlockingSwitch(): ReactNode {
  const { say, format } = useText();
  const { isAdmin } = useMe();
  const blocking = useAsk('GET /blocking', {}, { everyMs: 90_000 });
  const pause = useChange('POST /blocking', { done: 'blocking.paused' });
  const resume = useChange('POST /blocking', { done: 'blocking.resumed' });
  const pauseFor = (secs: number | null): void =>
    void pause.run({ body: { enabled: false, timer_secs: secs } });
  return (
    <Answered of={blocking} lines={1}>
      {({ enabled, timer_secs: left, this_node_only: isHereOnly }) => (
        <div className={styles['switch']}>
          {enabled ? (
            <ShieldCheck size={24} aria-hidden className={styles['on']} />
          ) : (
            <ShieldOff size={24} aria-hidden className={styles['off']} />
          )}
          <p className={styles['switchText']}>
            {say(enabled ? 'blocking.on' : left === null ? 'blocking.off' : 'blocking.offFor', {
              span: format.span(left ?? 0),
            })}
            {isHereOnly && ` ${say('blocking.hereOnly')}`}
          </p>
          {isAdmin && !enabled && (
            <Button
              kind="main"
              icon={Play}
              isPending={resume.isPending}
              // Without the database, a switch needs an end: that of the pause.
              onPress={() =>
                void resume.run({ body: { enabled: true, timer_secs: isHereOnly ? left : null } })
              }
            >
              {say('blocking.resume')}
            </Button>
          )}
          {isAdmin && enabled && (
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
                { id: 'open', text: say('blocking.pauseOpen'), run: () => pauseFor(null) },
              ]}
            />
          )}
        </div>
      )}
    </Answered>
  );
}
