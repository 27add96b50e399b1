/** Control for two to five choices that are all visible, such as periods or views. */
import type { ReactNode } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup';
import styles from './segments.module.css';

interface SegmentsProps<Id extends string> {
  readonly label: string;
  readonly value: Id;
  readonly onChange: (value: Id) => void;
  readonly choices: readonly { readonly id: Id; readonly text: string }[];
}

export function Segments<Id extends string>({
  label,
  value,
  onChange,
  choices,
}: SegmentsProps<Id>): ReactNode {
  return (
    <ToggleButtonGroup
      aria-label={label}
      className={styles['segments'] ?? ''}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={(keys) => {
        const [chosen] = keys;
        if (chosen !== undefined) onChange(chosen as Id);
      }}
    >
      {choices.map(({ id, text }) => (
        <ToggleButton key={id} id={id} className={styles['segment'] ?? ''}>
          {text}
        </ToggleButton>
      ))}
    </ToggleButtonGroup>
  );
}
