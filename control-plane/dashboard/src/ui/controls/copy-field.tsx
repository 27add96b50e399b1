/** A text that is to be copied: a key, a secret. */
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from './button.tsx';
import { copyText } from './copy-text.ts';
import styles from './copy-field.module.css';

interface CopyFieldProps {
  readonly label: string;
  readonly text: string;
}

/** The text in lines that can be selected, and the button. */
export function CopyField({ label, text }: CopyFieldProps): ReactNode {
  const { say } = useText();
  const [isCopied, setCopied] = useState(false);
  return (
    <div className={styles['field']} role="group" aria-label={label}>
      <span className={styles['label']}>{label}</span>
      <pre className={styles['text']} tabIndex={0}>
        {text}
      </pre>
      <div>
        <Button icon={isCopied ? Check : Copy} onPress={() => void copyText(text).then(setCopied)}>
          {say(isCopied ? 'action.copied' : 'copy.action')}
        </Button>
      </div>
    </div>
  );
}
