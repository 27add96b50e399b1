/** Characters in a text of strangers that change how the text around them is shown, or where a line ends. */

/** C0 and C1 controls and DEL, line and paragraph separators, and the controls of direction (Unicode, UAX #9). */
const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029';
/** Embeddings, overrides and isolates. The marks U+200E, U+200F and U+061C change nothing but their neighbours. */
const DIRECTIONS = '\\u202a-\\u202e\\u2066-\\u2069';

const UNSAFE = new RegExp(`[${CONTROLS}${DIRECTIONS}]`, 'g');
const DIRECTION = new RegExp(`[${DIRECTIONS}]`);

/** Whether a text changes the direction of what follows it. */
export function hasDirectionControl(text: string): boolean {
  return DIRECTION.test(text);
}

/** The text on one line, with these characters as in JSON: `\n`, `\u202e`. */
export function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE, (unit) => {
    const escaped = JSON.stringify(unit).slice(1, -1);
    return escaped === unit ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped;
  });
}
