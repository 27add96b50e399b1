/** Control for two to five choices that are all visible, such as periods or views. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup';
import { afterPaint } from '../screen/after-paint.ts';
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
  // First only the pressed choice is painted; the content that depends on it renders afterwards.
  const [pressed, setPressed] = useState<Id | null>(null);
  return (
    <ToggleButtonGroup
      aria-label={label}
      className={styles['segments'] ?? ''}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[pressed ?? value]}
      onSelectionChange={(keys) => {
        const [chosen] = keys;
        if (chosen === undefined) return;
        setPressed(chosen as Id);
        afterPaint(() => {
          setPressed(null);
          onChange(chosen as Id);
        });
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
