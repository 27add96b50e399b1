/** A text that is to be copied: a key, a secret. Also without the clipboard of secure contexts, as over plain HTTP. */
import { Check, Copy } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Button } from './button.tsx';
import styles from './copy-field.module.css';

interface CopyFieldProps {
  readonly label: string;
  readonly text: string;
}

/** The text in lines that can be selected, and the button. */
export function CopyField({ label, text }: CopyFieldProps): ReactNode {
  const { say } = useText();
  const [isCopied, setCopied] = useState(false);
  const place = useRef<HTMLPreElement>(null);
  return (
    <div className={styles['field']} role="group" aria-label={label}>
      <span className={styles['label']}>{label}</span>
      <pre ref={place} className={styles['text']} tabIndex={0}>
        {text}
      </pre>
      <div>
        <Button
          icon={isCopied ? Check : Copy}
          onPress={() => void copyFrom(place.current, text).then(setCopied)}
        >
          {say(isCopied ? 'copy.done' : 'copy.action')}
        </Button>
      </div>
    </div>
  );
}

async function copyFrom(place: HTMLElement | null, text: string): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // The reader may have refused it: the older way asks nobody.
    }
  }
  if (place === null) return false;
  getSelection()?.selectAllChildren(place);
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the one way that pages over plain HTTP have
  return document.execCommand('copy');
}
