/** Problems, each with a link or button to fix it. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useNodeStatus } from '../../api/live/live-status.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { Callout } from '../display/states.tsx';
import type { Trouble } from './troubles.ts';
import styles from './trouble-list.module.css';

interface TroubleListProps {
  readonly troubles: readonly Trouble[];
  /** Called when a link is followed. */
  readonly onFollow?: () => void;
}

export function TroubleList({ troubles, onFollow }: TroubleListProps): ReactNode {
  const { say } = useText();
  return troubles.map(({ id, tone, text, filling, detail, help, fix }) => (
    <Callout
      key={id}
      tone={tone}
      actions={
        fix === null ? (
          <LookAgain />
        ) : (
          <Link to={fix.to} className="button-link" onClick={onFollow}>
            {say(fix.text)}
          </Link>
        )
      }
    >
      <p>{say(text, filling)}</p>
      {help !== null && <p>{say(help)}</p>}
      {detail !== null && <p className={styles['detail']}>{detail}</p>}
    </Callout>
  ));
}

function LookAgain(): ReactNode {
  const { say } = useText();
  const { health } = useNodeStatus();
  return (
    <Button isPending={health.isFetching} onPress={() => void health.refetch()}>
      {say('trouble.fix.look')}
    </Button>
  );
}
