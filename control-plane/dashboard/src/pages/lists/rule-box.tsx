/** A box for rules, one a line: lines that make no rule are marked in it. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField } from 'react-aria-components/TextField';
import type { TextVerdict } from '../../../../../shared/api/policy/custom-text-api.ts';
import styles from './rule-box.module.css';

interface RuleBoxProps {
  readonly label: string;
  readonly help: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly refused: TextVerdict['refused'];
  readonly isDisabled: boolean;
}

/** The box. Lines do not wrap, so that a mark is where its line is. */
export function RuleBox({ label, help, value, onChange, refused, isDisabled }: RuleBoxProps): ReactNode {
  const [scrolled, setScrolled] = useState(0);
  return (
    <TextField className={styles['field'] ?? ''} value={value} onChange={onChange} isDisabled={isDisabled}>
      <Label className={styles['label'] ?? ''}>{label}</Label>
      <div className={styles['box']}>
        <div className={styles['marks']} aria-hidden>
          {refused.map(({ line }) => (
            <div
              key={line}
              className={styles['mark']}
              style={{ insetBlockStart: `calc(${line - 1} * var(--rule-line) - ${scrolled}px)` }}
            />
          ))}
        </div>
        <TextArea
          className={styles['text'] ?? ''}
          rows={16}
          wrap="off"
          spellCheck="false"
          autoCorrect="off"
          autoCapitalize="none"
          onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop)}
        />
      </div>
      <Text slot="description" className={styles['help'] ?? ''}>
        {help}
      </Text>
    </TextField>
  );
}
