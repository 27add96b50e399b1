/** Temporarily allows a name on one device. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { fieldProblem } from '../../api/problem-text.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/states.tsx';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { nameOfRule, ruleOfPasted } from '../../ui/policy/pasted-name.ts';
import { grantEnd } from '../../ui/grants/grant-spans.ts';
import type { Span } from '../../ui/grants/grant-spans.ts';
import { SpanField } from '../../ui/grants/span-field.tsx';

interface AllowDialogProps {
  readonly clientId: number;
  /** Name of the device. */
  readonly name: string;
  /** Initial domain name in the form. */
  readonly domain?: string;
  /** Runs once the name is allowed. */
  readonly onDone?: () => void;
  readonly onClose: () => void;
}

export function AllowDialog({
  clientId,
  name,
  domain: asked = '',
  onDone,
  onClose,
}: AllowDialogProps): ReactNode {
  const { say } = useText();
  const [domain, setDomain] = useState(asked);
  const [span, setSpan] = useState<Span>('1800');
  const create = useChange('POST /grants', {
    done: 'grants.nameAllowed',
    quiet: true,
    onDone: () => {
      onClose();
      onDone?.();
    },
  });
  const save = (): void => {
    const text = domain.trim();
    const rule = ruleOfPasted(text, false);
    void create.run({
      body: {
        client_id: clientId,
        domain: rule === null ? text : nameOfRule(rule),
        ...grantEnd(span, new Date()).body,
      },
    });
  };
  return (
    <FormDialog
      title={say('family.allowNameOf', { name })}
      saveText={say('grants.start')}
      isReady={domain.trim() !== ''}
      isPending={create.isPending}
      onSave={save}
      onClose={onClose}
    >
      <TextField
        label={say('field.name')}
        help={say('family.allowName.help')}
        value={domain}
        onChange={setDomain}
        error={fieldProblem(create.failure, 'domain')}
        inputMode="url"
        isCode
        autoFocus
      />
      <SpanField value={span} onChange={setSpan} />
      <FormFault failure={create.failure} fields={['domain']} />
    </FormDialog>
  );
}
