/**
 * Makes text from any source safe for terminals, by replacing characters that control the terminal or hide other text.
 * Also computes the width of text in columns.
 */

/** Control and format characters (which can reverse the text), line ends, and unassigned or private characters. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;
/** Characters that JSON may contain unescaped, but that must not be sent to a terminal. */
const NOT_IN_JSON = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu;
/** Characters without a width, because they combine with the preceding one. */
const COMBINING = /^[\p{Mn}\p{Me}]$/u;
/** Characters that are two columns wide: East Asian wide and fullwidth letters, and emoji. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{17000}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}])$/u;

/** The text on one line, with unprintable characters as `\u{1b}`. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

/** A value as JSON that is safe for a terminal; `indent` as for JSON.stringify. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(NOT_IN_JSON, (char) =>
    Array.from(
      { length: char.length },
      (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Width of printable text in columns. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text) width += widthOfChar(char);
  return width;
}

/** The text in exactly `width` columns, or at most that many if `unpadded`; an ellipsis replaces the truncated part. */
export function fitted(text: string, width: number, side: 'left' | 'right' | 'unpadded'): string {
  let taken = text;
  const whole = widthOf(text);
  if (whole > width) {
    const chars = Array.from(text);
    let left = whole;
    while (left > Math.max(0, width - 1) && chars.length > 0) left -= widthOfChar(chars.pop()!);
    taken = width > 0 ? `${chars.join('')}…` : '';
  }
  const padding = ' '.repeat(Math.max(0, width - widthOf(taken)));
  if (side === 'unpadded') return taken;
  return side === 'left' ? taken + padding : padding + taken;
}

function widthOfChar(char: string): number {
  if (COMBINING.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}
