/** Keys of the inputs of a compilation. An input is the text of a list, together with how it is read. */
import type { ListReading } from '../parse/line-rules.ts';

/** The key that identifies the text of a list and how it is read. */
export function inputKeyOf(
  id: number,
  contentKey: string,
  { kind, subdomains, isCustom = false }: ListReading,
): string {
  return `${id}-${contentKey}-${kind}${subdomains ? '-subdomains' : ''}${isCustom ? '-custom' : ''}`;
}

/** The content key that an input key contains. */
export function contentKeyOf(inputKey: string): string {
  return inputKey.split('-')[1] ?? '';
}

/** How the list of an input key is read. */
export function readingOfInput(inputKey: string): ListReading {
  const [, , kind, ...marks] = inputKey.split('-');
  return {
    kind: kind === 'allow' ? 'allow' : 'block',
    subdomains: marks.includes('subdomains'),
    ...(marks.includes('custom') && { isCustom: true }),
  };
}
