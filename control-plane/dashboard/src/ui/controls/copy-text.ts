/** Copies a text to the clipboard. Over plain HTTP the clipboard API is missing, so an older way is the fallback. */

/** False if the browser allows neither way. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Absent if the page is not a secure context.
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
