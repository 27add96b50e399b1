/** Keys of the inputs of a compilation: the text of a list, and the way in which it is read. */
import type { ListReading } from '../parse/line-rules.ts';

/** Identifies the text of a list and the way in which it is read. */
export function inputKeyOf(
  id: number,
  contentKey: string,
  { kind, subdomains, isCustom = false }: ListReading,
): string {
  return `${id}-${contentKey}-${kind}${subdomains ? '-subdomains' : ''}${isCustom ? '-custom' : ''}`;
}

/** The content of an input key. */
export function contentKeyOf(inputKey: string): string {
  return inputKey.split('-')[1] ?? '';
}

/** How to read the list of an input key. */
export function readingOfInput(inputKey: string): ListReading {
  const [, , kind, ...marks] = inputKey.split('-');
  return {
    kind: kind === 'allow' ? 'allow' : 'block',
    subdomains: marks.includes('subdomains'),
    ...(marks.includes('custom') && { isCustom: true }),
  };
}
