/** Changes of a restore by kind, and the objects that it leaves out. */
import { CirclePlus, Pencil, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import { Disclosure } from '../../../ui/display/disclosure.tsx';
import { Callout } from '../../../ui/display/states.tsx';
import { Badge } from '../../../ui/display/values.tsx';
import styles from './moving.module.css';
import { EFFECTS, kindWord, sumsOf } from './restore-words.ts';
import type { Difference } from './restore-words.ts';

const LOOKS = {
  removed: { tone: 'fault', icon: Trash2 },
  changed: { tone: 'plain', icon: Pencil },
  created: { tone: 'good', icon: CirclePlus },
} as const;
/** Maximum number of names per kind. */
const MAX_NAMES = 20;

interface RestoreViewProps {
  readonly difference: Difference;
  /** Buttons, shown below the sums and above the names. */
  readonly actions: ReactNode;
}

export function RestoreView({ difference, actions }: RestoreViewProps): ReactNode {
  const { say } = useText();
  const { changes, left_out: leftOut } = difference;
  return (
    <>
      <Callout tone={changes.length === 0 ? 'good' : 'info'}>
        {changes.length === 0 ? say('restore.same') : say('restore.sums', sumsOf(difference))}
      </Callout>
      {actions}
      {changes.map((change) => (
        <section key={change.kind} className={styles['kind']}>
          <h3>{kindWord(change.kind, say)}</h3>
          {EFFECTS.map(
            (effect) =>
              change[effect].count > 0 && <Effect key={effect} effect={effect} things={change[effect]} />,
          )}
        </section>
      ))}
      {leftOut.length > 0 && (
        <Disclosure title={say('restore.leftOut', { count: leftOut.length })}>
          <ul className={styles['lines']}>
            {leftOut.map(({ kind, name, reason }) => (
              <li key={`${kind} ${name}`}>
                {kindWord(kind, say)}: <bdi>{name}</bdi>{' '}
                <span className="quiet">{say(`restore.reason.${reason}`)}</span>
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
    </>
  );
}

interface EffectProps {
  readonly effect: (typeof EFFECTS)[number];
  readonly things: Difference['changes'][number]['created'];
}

function Effect({ effect, things: { count, names } }: EffectProps): ReactNode {
  const { say } = useText();
  const { tone, icon } = LOOKS[effect];
  const shown = names.slice(0, MAX_NAMES);
  return (
    <div className={styles['effect']}>
      <Badge tone={tone} icon={icon}>
        {say(`restore.${effect}`, { count })}
      </Badge>
      <ul className={styles['names']}>
        {shown.map((name, place) => (
          <li key={place}>
            <bdi>{name}</bdi>
          </li>
        ))}
        {count > shown.length && <li>{say('word.rest', { count: count - shown.length })}</li>}
      </ul>
    </div>
  );
}
