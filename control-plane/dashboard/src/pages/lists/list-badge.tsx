/** Badge with the state of a list, as a word with an icon. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Badge } from '../../ui/display/values.tsx';
import { LIST_STATES, listStateOf } from './list-rows.ts';
import type { Source } from './list-rows.ts';

export function ListBadge({ source }: { readonly source: Source }): ReactNode {
  const { say } = useText();
  const { tone, icon, text } = LIST_STATES[listStateOf(source)];
  return (
    <Badge tone={tone} icon={icon}>
      {say(text)}
    </Badge>
  );
}
