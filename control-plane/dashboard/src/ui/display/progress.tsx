/** A long-running task: its description, its progress if known, and a button to cancel it. */
import { useId } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import styles from './progress.module.css';

interface ProgressProps {
  readonly children: ReactNode;
  /** Number of completed steps, out of `of` steps; if it is undefined, the progress is unknown. */
  readonly done?: number;
  readonly of?: number;
  readonly onCancel?: () => void;
}

/** A sentence above a progress bar. */
export function Progress({ children, done, of, onCancel }: ProgressProps): ReactNode {
  const { say } = useText();
  const id = useId();
  return (
    <div className={styles['progress']}>
      <span id={id} role="status">
        {children}
      </span>
      {onCancel !== undefined && <Button onPress={onCancel}>{say('action.cancel')}</Button>}
      {done === undefined ? (
        <progress aria-labelledby={id} />
      ) : (
        <progress aria-labelledby={id} value={done} max={Math.max(of ?? 1, 1)} />
      )}
    </div>
  );
}
