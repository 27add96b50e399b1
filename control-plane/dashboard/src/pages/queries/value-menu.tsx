/** What can be done with a value of a row that was pressed. */
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { MenuAt } from '../../ui/overlays/menu.tsx';
import { valueText } from './filters/condition-text.ts';
import { CONDITIONS } from './filters/log-filters.ts';
import type { ConditionName } from './filters/log-filters.ts';
import type { PressedValue } from './log/log-window.tsx';

interface ValueMenuProps {
  readonly pressed: PressedValue | null;
  readonly groups: readonly { readonly id: number; readonly name: string }[];
  readonly onFilter: (name: ConditionName, value: string, isExcluded: boolean) => void;
  readonly onClose: () => void;
}

/** The menu beside it. */
export function ValueMenu({ pressed, groups, onFilter, onClose }: ValueMenuProps): ReactNode {
  const { say } = useText();
  const name = CONDITIONS.find((one) => one === pressed?.field);
  if (pressed === null || name === undefined) return null;
  const value = name === 'dnssec' ? pressed.row.dnssec_status : String(pressed.row[name] ?? '');
  const text = valueText(name, value, groups, say);
  return (
    <MenuAt
      at={pressed.element}
      label={text}
      onClose={onClose}
      actions={[
        { id: 'only', text: say('queries.only', { value: text }), run: () => onFilter(name, value, false) },
        {
          id: 'without',
          text: say('queries.without', { value: text }),
          run: () => onFilter(name, value, true),
        },
      ]}
    />
  );
}
