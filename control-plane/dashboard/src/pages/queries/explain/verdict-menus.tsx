/** Buttons for decisions about a row, in the thumb's reach: the usual one at once, all others in two menus. */
import { Ban, ChevronDown, CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import type { Say } from '../../../i18n/say.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Menu } from '../../../ui/overlays/menu.tsx';
import type { Judge } from './use-verdict.ts';
import { OFFERED } from './verdicts.ts';
import type { Verdict, VerdictTarget } from './verdicts.ts';

interface VerdictMenusProps {
  readonly target: VerdictTarget;
  readonly isBlocked: boolean;
  /** Name of the group. */
  readonly group: string;
  readonly judge: Judge;
}

/** Unblock or block. */
export function VerdictMenus({ target, isBlocked, group, judge }: VerdictMenusProps): ReactNode {
  const { say } = useText();
  const quick: Verdict = { action: isBlocked ? 'allow' : 'block', scope: 'client', span: 600 };
  return (
    <>
      <Button
        kind="main"
        icon={isBlocked ? CircleCheck : Ban}
        isPending={judge.isPending}
        onPress={() => judge.judge(quick, target)}
      >
        {say(isBlocked ? 'queries.verdict.allowQuick' : 'queries.verdict.blockQuick')}
      </Button>
      {(['allow', 'block'] as const).map((action) => (
        <Menu
          key={action}
          label={say(`queries.verdict.${action}`)}
          button={<Button icon={ChevronDown}>{say(`queries.verdict.${action}`)}</Button>}
          actions={OFFERED.map(({ scope, span }) => ({
            id: `${scope} ${span}`,
            text: offerText(scope, span, group, say),
            run: () => judge.judge({ action, scope, span }, target),
          }))}
        />
      ))}
    </>
  );
}

function offerText(scope: Verdict['scope'], span: Verdict['span'], group: string, say: Say): string {
  return scope === 'client'
    ? say('queries.verdict.forClient', { span: say(`queries.span.${span}`) })
    : say('queries.verdict.forGroup', { group, span: say(`queries.span.${span}`) });
}
