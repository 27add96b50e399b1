/** Copies a text. Over plain HTTP browsers have no clipboard for pages, so an older way stands in. */
import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { IconButton } from './button.tsx';

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

async function copyText(text: string): Promise<boolean> {
  try {
    // Absent where the page is no secure context.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard !== undefined) {
      await clipboard.writeText(text);
      return true;
    }
  } catch {
    // Refused: the older way may still do.
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'unseen';
  // Inside of the dialog: it does not let the focus out.
  (before?.closest('[role="dialog"]') ?? document.body).append(field);
  field.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way without a secure context
  const isCopied = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
