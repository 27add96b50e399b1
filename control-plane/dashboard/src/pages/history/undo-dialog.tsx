/**
 * Lists the changes to undo and asks for confirmation; asks again if another user has changed the policy in the
 * meantime.
 */
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../../../../shared/api/client/typed-client.ts';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Callout, FormFault, Skeleton } from '../../ui/display/states.tsx';
import { Moment } from '../../ui/display/values.tsx';
import { Confirm } from '../../ui/overlays/confirm.tsx';
import { ChangeLine } from './changes/change-line.tsx';
import { revisionParts } from './changes/change-texts.ts';
import { useChangeTexts } from './changes/use-change-texts.ts';
import { undoPlanOf } from './undo-plan.ts';
import type { Revision, UndoPlan } from './undo-plan.ts';
import styles from './history-page.module.css';

interface UndoDialogProps {
  /** Id of the revision to undo, as in the URL; empty if there is none. */
  readonly undo: string;
  /** Id of the revision to roll back to; empty if there is none. */
  readonly to: string;
  readonly onClose: () => void;
}

/** The list of changes does not change while it is shown, unless the server refuses because of newer changes. */
export function UndoDialog({ undo, to, onClose }: UndoDialogProps): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  const isOpen = isAdmin && (isNumber(undo) || isNumber(to));
  const { plan, isNewer, run, failure, isPending } = useUndo({ undo, to, isOpen, onClose });
  const canGo = plan?.target?.can_rollback === true && plan.going.length > 0;
  return (
    <Confirm
      title={isNumber(undo) ? say('history.undoTitle', { id: undo }) : say('history.toTitle', { id: to })}
      action={say('history.takeBack', { count: plan?.going.length ?? 0 })}
      isOpen={isOpen}
      isPending={isPending}
      onConfirm={canGo ? run : null}
      onClose={onClose}
    >
      {isNewer && (
        <Callout tone="warning" isAlert>
          {say('history.newer')}
        </Callout>
      )}
      {!isNewer && <FormFault failure={failure} />}
      {plan === null ? <Skeleton /> : <Going plan={plan} wanted={Number(undo)} />}
    </Confirm>
  );
}

const isNumber = (text: string): boolean => /^\d{1,9}$/.test(text);

interface UseUndo {
  readonly plan: UndoPlan | null;
  /** Whether another user has changed the policy since the dialog was opened. */
  readonly isNewer: boolean;
  readonly run: () => void;
  readonly failure: Error | null;
  readonly isPending: boolean;
}

function useUndo({ undo, to, isOpen, onClose }: UndoDialogProps & { isOpen: boolean }): UseUndo {
  const revisions = useAsk('GET /revisions', {}, { enabled: isOpen });
  const change = useChange('POST /revisions/{id}/rollback', { done: 'undo.done', quiet: true });
  const [seen, setSeen] = useState<readonly Revision[] | null>(null);
  const [isNewer, setIsNewer] = useState(false);
  const { refetch } = revisions;
  const { reset } = change;
  useEffect(() => {
    setSeen(null);
    setIsNewer(false);
    if (!isOpen) return;
    reset();
    void refetch().then(({ data }) => setSeen(data ?? null));
  }, [isOpen, undo, to, refetch, reset]);
  const target = isNumber(undo) ? { undo: Number(undo) } : { to: Number(to) };
  const plan = seen === null ? null : undoPlanOf(seen, target);
  const run = async (): Promise<void> => {
    if (plan?.target === null || plan === null) return;
    setIsNewer(false);
    const isDone = await change.run({ params: { id: plan.target.id }, query: { expected_head: plan.head } });
    if (isDone) {
      onClose();
      return;
    }
    const { data = [] } = await refetch();
    setSeen(data);
    setIsNewer(undoPlanOf(data, target).head !== plan.head);
  };
  return {
    plan,
    isNewer,
    run: () => void run(),
    failure: change.failure ?? (revisions.error instanceof ApiFailure ? revisions.error : null),
    isPending: change.isPending,
  };
}

function Going({ plan, wanted }: { readonly plan: UndoPlan; readonly wanted: number }): ReactNode {
  const { say } = useText();
  const texts = useChangeTexts();
  const { target, going } = plan;
  if (target === null) return <Callout tone="info">{say('history.nothingBefore')}</Callout>;
  if (going.length === 0) return <Callout tone="info">{say('history.nothingToTake')}</Callout>;
  if (!target.can_rollback) return <Callout tone="info">{say('history.tooOld.help')}</Callout>;
  const others = going.some(({ id }) => id !== wanted);
  return (
    <>
      <p>{say(others ? 'history.going' : 'history.goingOne')}</p>
      <ul className={styles['going']} tabIndex={0} aria-label={say('history.going')}>
        {going.map(({ id, author, summary, codes, created_at: at }) => (
          <li key={id} className={id === wanted ? styles['wanted'] : undefined}>
            <span className={styles['summary']}>
              <ChangeLine parts={revisionParts({ codes, summary }, texts)} />
            </span>
            <span className={styles['quiet']}>
              <bdi>{author}</bdi> · <Moment at={at} />
            </span>
          </li>
        ))}
      </ul>
      <p className={styles['quiet']}>{say('history.goingHelp')}</p>
    </>
  );
}
