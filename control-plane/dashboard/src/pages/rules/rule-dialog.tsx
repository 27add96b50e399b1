/** Creates a rule or changes one: for a name, or for names that an expression describes. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { canonicalDomainRule } from '../../../../../shared/policy/domain-rule.ts';
import { fieldProblem } from '../../api/problem-text.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField, TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/form-fault.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Dialog } from '../../ui/overlays/dialog.tsx';
import { GroupField } from '../../ui/policy/groups.tsx';
import { ExpressionTrial } from './expression-field.tsx';
import { bodyOfRule, fieldsOfRule } from './rule-rows.ts';
import type { Rule, RuleAction, RuleFields, RuleKind } from './rule-rows.ts';

const FIELDS = ['domain', 'pattern', 'comment', 'group_id'];

interface RuleDialogProps {
  readonly kind: RuleKind;
  /** Null = a new one. */
  readonly rule: Rule | null;
  readonly onClose: () => void;
}

/** The form; another one for each rule, so that no draft is carried over. */
export function RuleDialog({ kind, rule, onClose }: RuleDialogProps): ReactNode {
  const { say } = useText();
  const [fields, setFields] = useState(() => fieldsOfRule(rule));
  const set = (changed: Partial<RuleFields>): void => setFields({ ...fields, ...changed });
  const { save, isPending, failure } = useSave(kind, rule, onClose);
  return (
    <Dialog
      title={say(rule === null ? `rules.add.${kind}` : `rules.edit.${kind}`)}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button
            kind="main"
            isDisabled={fields.text.trim() === ''}
            isPending={isPending}
            onPress={() => save(fields)}
          >
            {say('action.save')}
          </Button>
        </>
      }
    >
      <Stack>
        <ActionChoice value={fields.action} onChange={(action) => set({ action })} />
        <TextField
          label={say(`rules.${kind}`)}
          help={say(`rules.${kind}.help`)}
          value={fields.text}
          onChange={(text) => set({ text })}
          error={fieldProblem(failure, kind === 'domain' ? 'domain' : 'pattern')}
          autoFocus
          isCode
        />
        {kind === 'domain' && <Covers text={fields.text} />}
        {kind === 'expression' && <ExpressionTrial pattern={fields.text} />}
        <GroupField
          label={say('field.for')}
          value={fields.groupId}
          onChange={(groupId) => set({ groupId })}
          error={fieldProblem(failure, 'group_id')}
        />
        <TextField
          label={say('field.comment')}
          value={fields.comment}
          onChange={(comment) => set({ comment })}
          error={fieldProblem(failure, 'comment')}
        />
        <CheckboxField isSelected={fields.enabled} onChange={(enabled) => set({ enabled })}>
          {say('rules.enabled')}
        </CheckboxField>
        <FormFault failure={failure} fields={FIELDS} />
      </Stack>
    </Dialog>
  );
}

interface ActionChoiceProps {
  readonly value: RuleAction;
  readonly onChange: (action: RuleAction) => void;
}

/** Block or allow. */
export function ActionChoice({ value, onChange }: ActionChoiceProps): ReactNode {
  const { say } = useText();
  return (
    <Segments
      label={say('rules.action')}
      value={value}
      onChange={onChange}
      choices={[
        { id: 'deny', text: say('action.block') },
        { id: 'allow', text: say('action.allow') },
      ]}
    />
  );
}

/** Says what a rule for a name is about, before it is saved. */
function Covers({ text }: { readonly text: string }): ReactNode {
  const { say } = useText();
  const domain = canonicalDomainRule(text);
  if (domain === null) return null;
  const isWildcard = domain.startsWith('*.');
  return (
    <p role="status">
      {say(isWildcard ? 'rules.covers.below' : 'rules.covers.exact', { name: domain.replace('*.', '') })}
    </p>
  );
}

interface Save {
  readonly save: (fields: RuleFields) => void;
  readonly isPending: boolean;
  readonly failure: Error | null;
}

function useSave(kind: RuleKind, rule: Rule | null, onDone: () => void): Save {
  const created = { done: 'rules.created', onDone, quiet: true } as const;
  const changed = { done: 'rules.changed', onDone, quiet: true } as const;
  const createDomain = useChange('POST /managed-domains', created);
  const createFilter = useChange('POST /regex-filters', created);
  const changeDomain = useChange('PUT /managed-domains/{id}', changed);
  const changeFilter = useChange('PUT /regex-filters/{id}', changed);
  const save = (fields: RuleFields): void => {
    const body = bodyOfRule(fields);
    const text = fields.text.trim();
    if (kind === 'domain')
      void (rule === null
        ? createDomain.run({ body: { ...body, domain: text } })
        : changeDomain.run({ params: { id: rule.id }, body: { ...body, domain: text } }));
    else
      void (rule === null
        ? createFilter.run({ body: { ...body, pattern: text } })
        : changeFilter.run({ params: { id: rule.id }, body: { ...body, pattern: text } }));
  };
  const all = [createDomain, createFilter, changeDomain, changeFilter];
  return {
    save,
    isPending: all.some((change) => change.isPending),
    failure: all.find((change) => change.failure !== null)?.failure ?? null,
  };
}
