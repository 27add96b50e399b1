/** Buttons for decisions about a row: one for the usual decision, and one that opens a dialog with all decisions. */
import { Ban, CircleCheck, SlidersHorizontal } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { SelectField, SwitchField } from '../../../ui/controls/fields.tsx';
import { DomainName } from '../../../ui/display/values.tsx';
import { FormDialog } from '../../../ui/overlays/form-dialog.tsx';
import { isBlocked } from '../log/status-look.ts';
import type { VerdictActor } from './use-verdict.ts';
import { madeBy, midnightAfter, scopesOf, SPANS, usualFor } from './verdicts.ts';
import type { Verdict, VerdictTarget } from './verdicts.ts';

interface VerdictProps {
  readonly target: VerdictTarget;
  readonly group: string;
  readonly verdicts: VerdictActor;
}

/**
 * Offers to unblock a blocked name, or to block an answered name. If the row has no client, the dialog asks to whom the
 * decision applies.
 */
export function VerdictActions(props: VerdictProps): ReactNode {
  const { say } = useText();
  const { target, verdicts } = props;
  const [isOpen, setOpen] = useState(false);
  const action = isBlocked(target.status) ? 'allow' : 'block';
  const usual = usualFor(target);
  const isQuick = usual.scope === 'client';
  const icon = action === 'allow' ? CircleCheck : Ban;
  return (
    <>
      {isQuick && (
        <Button
          kind="main"
          icon={icon}
          isPending={verdicts.isPending}
          onPress={() => verdicts.apply({ action, ...usual }, target)}
        >
          {say(`queries.verdict.${action}Quick`)}
        </Button>
      )}
      <Button icon={isQuick ? SlidersHorizontal : icon} onPress={() => setOpen(true)}>
        {say(`queries.verdict.${action}More`)}
      </Button>
      {isOpen && <VerdictDialog {...props} action={action} onClose={() => setOpen(false)} />}
    </>
  );
}

interface VerdictDialogProps extends VerdictProps {
  readonly action: Verdict['action'];
  readonly onClose: () => void;
}

/** Dialog in which the user chooses clients, duration and names of a decision. */
function VerdictDialog({ target, group, verdicts, action, onClose }: VerdictDialogProps): ReactNode {
  const { say } = useText();
  const [chosen, setChosen] = useState(() => usualFor(target));
  const set = (changed: Partial<typeof chosen>): void => setChosen({ ...chosen, ...changed });
  const verdict: Verdict = { ...chosen, action };
  return (
    <FormDialog
      title={say(`queries.verdict.${action}`)}
      saveText={say(`queries.verdict.${action}`)}
      isPending={verdicts.isPending}
      onSave={() => {
        verdicts.apply(verdict, target);
        onClose();
      }}
      onClose={onClose}
    >
      <DomainName name={target.domain} />
      <SelectField
        label={say('field.for')}
        value={chosen.scope}
        onChange={(scope) => set({ scope })}
        choices={scopesOf(target).map((id) => ({ id, text: say(`queries.scope.${id}`, { group }) }))}
      />
      <SelectField
        label={say('field.duration')}
        value={String(chosen.span)}
        onChange={(id) => set({ span: SPANS.find((span) => String(span) === id) ?? chosen.span })}
        choices={SPANS.map((span) => ({ id: String(span), text: say(`queries.span.${span}`) }))}
      />
      <SwitchField isSelected={chosen.subdomains} onChange={(subdomains) => set({ subdomains })}>
        {say('rules.subdomains')}
      </SwitchField>
      <Made verdict={verdict} target={target} group={group} />
    </FormDialog>
  );
}

/** Describes the rule or grant that the button will create. */
function Made({
  verdict,
  target,
  group,
}: Omit<VerdictProps, 'verdicts'> & { readonly verdict: Verdict }): ReactNode {
  const { say, format } = useText();
  const { scope, span } = verdict;
  const text = (): string => {
    if (madeBy(verdict, target.status) === 'rule')
      return say(scope === 'group' ? 'queries.makes.groupRule' : 'queries.makes.rule', { group });
    if (span === 'ever') return say('queries.makes.openGrant');
    const now = new Date();
    const end = span === 'midnight' ? midnightAfter(now) : new Date(now.getTime() + span * 1000);
    return say('queries.makes.grant', { until: format.shortTime(end) });
  };
  return (
    <p className="quiet" role="status">
      {text()}
    </p>
  );
}
