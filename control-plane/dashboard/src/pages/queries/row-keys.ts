/** Single keys for the rows of the log. They can be switched off: who speaks to the computer may type them by chance. */

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

/** The keys with what they do, for a list of them. */
export const ROW_KEYS = Object.entries(KEYS);

/** Kept in this browser. */
const CHOICE = 'weir.keys';

/** Whether keys are in use here. */
export function areKeysOn(): boolean {
  return localStorage.getItem(CHOICE) !== 'off';
}

/** Keeps the choice. */
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

/** Action of a pressed key; null if it has none, or if it was typed into a field or menu. */
export function rowKeyOf(event: PressedKey, isTaken: boolean): RowKey | null {
  if (isTaken || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return null;
  return KEYS[event.key] ?? null;
}

/** Elements that handle letter keys themselves. */
export const TAKES_KEYS = 'input, textarea, select, [contenteditable], [role=menu], [role=listbox]';
