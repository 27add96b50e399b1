/** A text to copy, such as a key or a secret. */
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button, IconButton } from './button.tsx';
import { copyText } from './copy-text.ts';
import styles from './copy-field.module.css';

interface CopyFieldProps {
  readonly label: string;
  readonly text: string;
}

/** Selectable text with a copy button. */
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

interface CopyButtonProps {
  readonly text: string;
  /** Label of the button, such as "Copy the name". */
  readonly label: string;
}

/** A button that copies a text and confirms it. */
export function CopyButton({ text, label }: CopyButtonProps): ReactNode {
  const { say } = useText();
  const [copied, setCopied] = useState<string | null>(null);
  const isDone = copied === text;
  return (
    <>
      <IconButton
        icon={isDone ? Check : Copy}
        label={isDone ? say('action.copied') : label}
        onPress={() => void copyText(text).then((isCopied) => setCopied(isCopied ? text : null))}
      />
      <span role="status" className="unseen">
        {isDone && say('action.copied')}
      </span>
    </>
  );
}
