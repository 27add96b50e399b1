/** Lets somebody ask something for a time, or keeps them from it. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { fieldProblem } from '../../api/problem-text.ts';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { nameOf } from '../../ui/policy/client-name.ts';
import { useText } from '../../i18n/text.ts';
import { SelectField, TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/states.tsx';
import { useGroups } from '../../ui/policy/groups.tsx';
import { ActionChoice } from './rule-dialog.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import type { RuleAction } from './rule-rows.ts';

const SPANS = ['600', '3600', '10800', '86400'];
const MIDNIGHT = 'midnight';

/** The form. */
export function GrantDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { say, format } = useText();
  const groups = useGroups();
  const { data: clients } = useAsk('GET /clients', { query: { limit: 1000 } });
  const [action, setAction] = useState<RuleAction>('allow');
  const [domain, setDomain] = useState('');
  const [whose, setWhose] = useState('');
  const [span, setSpan] = useState('3600');
  const create = useChange('POST /grants', { done: 'grants.added', onDone: onClose, quiet: true });
  const { failure } = create;
  const save = (): void => {
    const [kind, id] = whose.split(' ');
    void create.run({
      body: {
        action: action === 'allow' ? 'allow' : 'block',
        domain: domain.trim() === '' ? null : domain.trim(),
        ...(kind === 'group' ? { group_id: Number(id) } : { client_id: Number(id) }),
        ...(span === MIDNIGHT ? { until: nextMidnight().toISOString() } : { secs: Number(span) }),
      },
    });
  };
  return (
    <FormDialog
      title={say('grants.add')}
      saveText={say('grants.start')}
      isReady={whose !== ''}
      isPending={create.isPending}
      onSave={save}
      onClose={onClose}
    >
      <ActionChoice value={action} onChange={setAction} />
      <TextField
        label={say('grants.what')}
        help={say('grants.what.help')}
        value={domain}
        onChange={setDomain}
        error={fieldProblem(failure, 'domain')}
        isCode
      />
      <SelectField
        label={say('field.for')}
        value={whose}
        onChange={setWhose}
        error={fieldProblem(failure, 'client_id')}
        choices={[
          ...groups.map(({ id, name }) => ({ id: `group ${id}`, text: say('grants.group', { name }) })),
          ...(clients?.data ?? []).map((client) => ({
            id: `client ${client.id}`,
            text: nameOf(client),
          })),
        ]}
      />
      <SelectField
        label={say('grants.long')}
        value={span}
        onChange={setSpan}
        choices={[
          ...SPANS.map((secs) => ({ id: secs, text: format.span(Number(secs)) })),
          { id: MIDNIGHT, text: say('grants.midnight') },
        ]}
      />
      <FormFault failure={failure} fields={['domain', 'client_id']} />
    </FormDialog>
  );
}

/** Where the reader is. */
function nextMidnight(): Date {
  const end = new Date();
  end.setHours(24, 0, 0, 0);
  return end;
}
