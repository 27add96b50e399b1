/** Names of what goes into a compile: the text of a list, and the way it is read. */
import type { ListReading } from '../parse/line-rules.ts';

/** Names the text of a list and the way it is read. */
export function inputKeyOf(
  id: number,
  contentKey: string,
  { kind, subdomains, isCustom = false }: ListReading,
): string {
  return `${id}-${contentKey}-${kind}${subdomains ? '-subdomains' : ''}${isCustom ? '-custom' : ''}`;
}

/** The content that an input key names. */
export function contentKeyOf(inputKey: string): string {
  return inputKey.split('-')[1] ?? '';
}

/** The reading of the list behind an input key. */
export function readingOfInput(inputKey: string): ListReading {
  const [, , kind, ...marks] = inputKey.split('-');
  return {
    kind: kind === 'allow' ? 'allow' : 'block',
    subdomains: marks.includes('subdomains'),
    ...(marks.includes('custom') && { isCustom: true }),
  };
}
