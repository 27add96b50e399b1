/** Marks what any page shows as old while Weir does not answer. */
import type { ReactNode } from 'react';
import { checkConnection, useConnection } from '../../api/live/live-status.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Callout } from '../../ui/display/states.tsx';
import styles from './status-bar.module.css';

/** The note; nothing while Weir answers. */
export function LostNote(): ReactNode {
  const { say, format } = useText();
  const state = useConnection();
  if (state.kind !== 'lost') return null;
  return (
    <div className={styles['lost']}>
      <Callout
        tone="fault"
        actions={<Button onPress={checkConnection}>{say('action.retry')}</Button>}
        isAlert
      >
        {say('connection.lost', { time: format.time(new Date(state.sinceMs)) })}
      </Callout>
    </div>
  );
}
