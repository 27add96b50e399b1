/** Shows the fields that another user has changed while a form was open, and asks which version to keep. */
import type { ReactNode } from 'react';
import type { Guard } from '../../api/use-guard.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../controls/button.tsx';
import { Callout } from '../display/states.tsx';
import styles from './changed-elsewhere.module.css';

/** The texts of a field in both versions of a form. */
export interface FieldPair {
  readonly label: string;
  readonly mine: string;
  readonly now: string;
}

interface ChangedElsewhereProps {
  /** All fields of the form; equal fields are not shown. */
  readonly fields: readonly FieldPair[];
  readonly isPending: boolean;
  readonly onKeep: () => void;
  readonly onUse: () => void;
}

interface ChangedSinceProps<Entity> {
  readonly guard: Guard<Entity>;
  readonly labels: readonly string[];
  /** The fields of this form as shown to the user, in the same order as the labels. */
  readonly mine: readonly string[];
  readonly wordsOf: (now: Entity) => readonly string[];
  readonly isPending: boolean;
  /** Fills the form with the current values. */
  readonly onUse: (now: Entity) => void;
  /** Saves the form, replacing the current values. */
  readonly onKeep: () => void;
}

/** Asks which version of a guarded form to keep; renders nothing while the form is based on the current state. */
export function ChangedSince<Entity>(props: ChangedSinceProps<Entity>): ReactNode {
  const { guard, labels, mine, wordsOf, isPending, onUse, onKeep } = props;
  const { newer } = guard;
  if (newer === null) return null;
  return (
    <ChangedElsewhere
      fields={pairsOf(labels, mine, wordsOf(newer))}
      isPending={isPending}
      onUse={() => {
        onUse(newer);
        guard.accept();
      }}
      onKeep={() => {
        guard.accept();
        onKeep();
      }}
    />
  );
}

/** Pairs the fields of two forms, in the same order. */
export function pairsOf(
  labels: readonly string[],
  mine: readonly string[],
  now: readonly string[],
): FieldPair[] {
  return labels.map((label, at) => ({ label, mine: mine[at]!, now: now[at]! }));
}

/** Whether two forms, made by the same function, have equal fields. */
export function isSame(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function ChangedElsewhere({ fields, isPending, onKeep, onUse }: ChangedElsewhereProps): ReactNode {
  const { say } = useText();
  const differing = fields.filter(({ mine, now }) => mine !== now);
  return (
    <Callout tone="warning" isAlert>
      <p>{say(differing.length === 0 ? 'changed.same' : 'changed.elsewhere')}</p>
      {differing.length > 0 && (
        <table className={styles['table']}>
          <thead>
            <tr>
              <td />
              <th scope="col">{say('changed.mine')}</th>
              <th scope="col">{say('changed.now')}</th>
            </tr>
          </thead>
          <tbody>
            {differing.map(({ label, mine, now }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>
                  <bdi>{mine === '' ? '–' : mine}</bdi>
                </td>
                <td>
                  <bdi>{now === '' ? '–' : now}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div className={styles['buttons']}>
        <Button onPress={onUse}>{say('changed.use')}</Button>
        <Button kind="danger" isPending={isPending} onPress={onKeep}>
          {say('changed.keep')}
        </Button>
      </div>
    </Callout>
  );
}
