/** Visible choices; a click selects or deselects one. */
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import styles from './choices.module.css';

export interface Chip {
  readonly id: string;
  readonly text: string;
  /** Icon before the text. */
  readonly icon?: ReactNode;
}

interface ChipsProps {
  readonly label: string;
  readonly chips: readonly Chip[];
  readonly isChosen: (id: string) => boolean;
  readonly onToggle: (id: string, isChosen: boolean) => void;
}

export function Chips({ label, chips, isChosen, onToggle }: ChipsProps): ReactNode {
  return (
    <div role="group" aria-label={label} className={styles['chips']}>
      {chips.map(({ id, text, icon }) => (
        <ToggleButton
          key={id}
          className={styles['chip'] ?? ''}
          isSelected={isChosen(id)}
          onChange={(chosen) => onToggle(id, chosen)}
        >
          {isChosen(id) ? <Check size={18} aria-hidden /> : icon}
          <span>{text}</span>
        </ToggleButton>
      ))}
    </div>
  );
}
