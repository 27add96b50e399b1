/** Badge with the action of a rule, as a word with an icon. */
import { Ban, Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../i18n/text.ts';
import { Badge } from '../../ui/display/values.tsx';

export function RuleBadge({ action }: { readonly action: 'allow' | 'deny' | 'block' }): ReactNode {
  const { say } = useText();
  return action === 'allow' ? (
    <Badge tone="allowed" icon={Check}>
      {say('rules.allows')}
    </Badge>
  ) : (
    <Badge tone="blocked" icon={Ban}>
      {say('rules.blocks')}
    </Badge>
  );
}
