/** Copies text to the clipboard. Over plain HTTP there is no clipboard API, so `execCommand` is the fallback. */

/** Copies a text; returns false if the browser allows neither method. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Undefined if the page is not a secure context.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard !== undefined) {
      await clipboard.writeText(text);
      return true;
    }
  } catch {
    // The browser refused the clipboard API: try the fallback.
  }
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'unseen';
  // Add the field inside an open dialog, because a dialog traps the focus.
  (before?.closest('[role="dialog"]') ?? document.body).append(field);
  field.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way without a secure context
  const isCopied = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
