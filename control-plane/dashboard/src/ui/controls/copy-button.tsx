/** A button that copies a text: a name, an address. */
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { IconButton } from './button.tsx';
import { copyText } from './copy-text.ts';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied: "Copy the name". */
  readonly label: string;
}

/** The button; it says when it is done. */
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
