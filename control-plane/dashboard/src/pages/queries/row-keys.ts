/**
 * Single-key shortcuts for rows of the log. Users can disable them, because speech input may trigger them accidentally.
 */

/** Action of a key. */
export type RowKey = 'next' | 'previous' | 'explain' | 'allow' | 'block' | 'search';

const KEYS: Readonly<Record<string, RowKey>> = {
  j: 'next',
  k: 'previous',
  e: 'explain',
  a: 'allow',
  b: 'block',
  '/': 'search',
};

/** Keys and their actions, for a list of shortcuts. */
export const ROW_KEYS = Object.entries(KEYS);

/** Key of the setting in the browser's storage. */
const CHOICE = 'weir.keys';

/** Whether shortcuts are enabled in this browser. */
export function areKeysOn(): boolean {
  return localStorage.getItem(CHOICE) !== 'off';
}

/** Stores the setting. */
export function switchKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(CHOICE);
  else localStorage.setItem(CHOICE, 'off');
}

/** A pressed key with its modifiers. */
export interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly defaultPrevented: boolean;
}

/** Action of a key; null if the key has none, or was typed into a field or menu. */
export function rowKeyOf(event: PressedKey, isTaken: boolean): RowKey | null {
  if (isTaken || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return null;
  return KEYS[event.key] ?? null;
}

/** Selector for elements that handle letter keys themselves. */
export const TAKES_KEYS = 'input, textarea, select, [contenteditable], [role=menu], [role=listbox]';
