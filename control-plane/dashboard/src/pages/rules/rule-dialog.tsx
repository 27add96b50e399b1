/** Adds or edits a domain rule or regex rule. */
import type { ReactNode } from 'react';
import { useFailureWithReasons, useLineReason } from '../../i18n/reasons/use-reason-text.ts';
import { useText } from '../../i18n/text.ts';
import { CheckboxField, SwitchField, TextField } from '../../ui/controls/fields.tsx';
import { Callout, FormFault } from '../../ui/display/states.tsx';
import { Segments } from '../../ui/controls/segments.tsx';
import { ChangedElsewhere, isSame, pairsOf } from '../../ui/overlays/changed-elsewhere.tsx';
import { GroupField, GroupsField, useGroups } from '../../ui/policy/groups.tsx';
import { includesSubdomains, isAddress, nameOfRule, ruleOfPasted } from '../../ui/policy/pasted-name.ts';
import { pastedNames } from './pasted-lines.ts';
import { bodyOfRule, fieldsOfRule, groupsOfRow, operationsOf, replacement } from './rule-rows.ts';
import { FormDialog } from '../../ui/overlays/form-dialog.tsx';
import { useChanges } from '../../api/use-change.ts';
import { useFields } from '../../api/use-fields.ts';
import { useGuard } from '../../api/use-guard.ts';
import type { Rule, RuleAction, RuleFields, RuleKind } from './rule-rows.ts';
import { useEffect, useState } from 'react';
import type { Trial } from './expression-trial.ts';

const FIELDS = ['domain', 'pattern', 'comment', 'group_id'];

interface RuleDialogProps {
  readonly kind: RuleKind;
  /** The rule to edit; null to add a new one. */
  readonly rule: Rule | null;
  /** This rule and all rules that differ from it only in their group. */
  readonly all?: readonly Rule[];
  readonly onClose: () => void;
}

/** The React key discards the draft when another rule is edited. */
export function RuleDialog({ kind, rule, all = [], onClose }: RuleDialogProps): ReactNode {
  const { say } = useText();
  const {
    run,
    isPending,
    failure: reported,
  } = useChanges({
    done: rule === null ? 'rules.created' : 'rules.changed',
    onDone: onClose,
    quiet: true,
  });
  const failure = useFailureWithReasons(reported);
  const { fields, set, bind, bindToggle } = useFields(() => fieldsOfRule(rule), failure);
  const guard = useGuard({
    read: operationsOf(kind).one,
    id: all.length > 1 ? null : (rule?.id ?? null),
    isAsBegun: (now) => isSame(fieldsOfRule(now), fieldsOfRule(rule)),
    failure,
  });
  const [groupIds, setGroupIds] = useState(() => groupsOfRow(all));
  const isForSeveral = all.length > 1;
  const save = (): void => {
    const body = bodyOfRule(fields);
    const written = fields.text.trim();
    // If the text is not a name, the server reports the error.
    const text = kind === 'domain' ? (ruleOfPasted(written, fields.subdomains) ?? written) : written;
    if (isForSeveral) {
      const { group_id: _groupId, ...changed } = body;
      void run(operationsOf(kind).bulk, { body: replacement(all, groupIds, { ...changed, text }) });
    } else if (kind === 'domain') {
      const many = rule === null ? manyRules(written, fields.subdomains) : [];
      if (many.length > 1)
        void run('POST /managed-domains/bulk', {
          body: { create: many.map((one) => ({ ...body, domain: one })) },
        });
      else
        void (rule === null
          ? run('POST /managed-domains', { body: { ...body, domain: text } })
          : run('PUT /managed-domains/{id}', {
              params: { id: rule.id },
              body: { ...body, domain: text },
              ...guard.headers(),
            }));
    } else
      void (rule === null
        ? run('POST /regex-filters', { body: { ...body, pattern: text } })
        : run('PUT /regex-filters/{id}', {
            params: { id: rule.id },
            body: { ...body, pattern: text },
            ...guard.headers(),
          }));
  };
  return (
    <FormDialog
      title={say(rule === null ? `rules.add.${kind}` : `rules.edit.${kind}`)}
      isReady={fields.text.trim() !== '' && !(isForSeveral && groupIds?.length === 0)}
      isPending={isPending}
      onSave={save}
      onClose={onClose}
    >
      <ActionChoice value={fields.action} onChange={(action) => set({ action })} />
      <TextField
        label={say(`rules.${kind}`)}
        help={say(`rules.${kind}.help`)}
        {...bind('text', kind === 'domain' ? 'domain' : 'pattern')}
        autoFocus
        isCode
      />
      {kind === 'domain' && (
        <>
          <SwitchField
            {...bindToggle('subdomains')}
            isSelected={fields.subdomains || includesSubdomains(fields.text)}
            isDisabled={includesSubdomains(fields.text)}
          >
            {say('rules.subdomains')}
          </SwitchField>
          <Covers text={fields.text} subdomains={fields.subdomains} />
        </>
      )}
      {kind === 'expression' && <ExpressionTrial pattern={fields.text} />}
      {isForSeveral ? (
        <GroupsField label={say('field.for')} value={groupIds} onChange={setGroupIds} />
      ) : (
        <GroupField label={say('field.for')} {...bind('groupId', 'group_id')} />
      )}
      <TextField label={say('field.comment')} {...bind('comment')} />
      <CheckboxField {...bindToggle('enabled')}>{say('rules.enabled')}</CheckboxField>
      <FormFault failure={guard.failure} fields={FIELDS} />
      {guard.newer !== null && (
        <ChangedRule
          mine={fields}
          now={fieldsOfRule(guard.newer)}
          isPending={isPending}
          onUse={(now) => {
            set(now);
            guard.accept();
          }}
          onKeep={() => {
            guard.accept();
            save();
          }}
        />
      )}
    </FormDialog>
  );
}

interface ChangedRuleProps {
  readonly mine: RuleFields;
  readonly now: RuleFields;
  readonly isPending: boolean;
  readonly onUse: (now: RuleFields) => void;
  readonly onKeep: () => void;
}

function ChangedRule({ mine, now, isPending, onUse, onKeep }: ChangedRuleProps): ReactNode {
  const { say } = useText();
  const groups = useGroups();
  const words = ({ text, subdomains, action, groupId, comment, enabled }: RuleFields): string[] => [
    say(action === 'allow' ? 'action.allow' : 'action.block'),
    text.trim(),
    say(subdomains ? 'field.yes' : 'field.no'),
    groupId === null ? say('groups.all') : (groups.find(({ id }) => id === groupId)?.name ?? `${groupId}`),
    comment.trim(),
    say(enabled ? 'field.yes' : 'field.no'),
  ];
  const labels = [say('field.action'), say('field.name'), say('rules.subdomains'), say('field.for'), say('field.comment'), say('rules.enabled')]; // prettier-ignore
  return (
    <ChangedElsewhere
      fields={pairsOf(labels, words(mine), words(now))}
      isPending={isPending}
      onUse={() => onUse(now)}
      onKeep={onKeep}
    />
  );
}

interface ActionChoiceProps {
  readonly value: RuleAction;
  readonly onChange: (action: RuleAction) => void;
}

export function ActionChoice({ value, onChange }: ActionChoiceProps): ReactNode {
  const { say } = useText();
  return (
    <Segments
      label={say('field.action')}
      value={value}
      onChange={onChange}
      choices={[
        { id: 'deny', text: say('action.block') },
        { id: 'allow', text: say('action.allow') },
      ]}
    />
  );
}

/** Describes which names a rule matches, before it is saved. */
function Covers({ text, subdomains }: { readonly text: string; readonly subdomains: boolean }): ReactNode {
  const { say } = useText();
  const many = manyRules(text, subdomains);
  if (many.length > 1) return <p role="status">{say('rules.covers.many', { count: many.length })}</p>;
  const domain = ruleOfPasted(text, subdomains);
  if (domain === null) return null;
  return (
    <p role="status">
      {say(includesSubdomains(domain) ? 'rules.covers.below' : 'rules.covers.exact', {
        name: nameOfRule(domain),
      })}
      {isAddress(text) && ` ${say('rules.covers.address')}`}
    </p>
  );
}

/** Rules for a text with several names, such as lines pasted into the field; empty if one of the names is invalid. */
function manyRules(text: string, subdomains: boolean): readonly string[] {
  const names = pastedNames(text, { action: 'deny', subdomains, groupId: null, existing: [] });
  if (names.some(({ state }) => state === 'bad')) return [];
  return names.filter(({ state }) => state === 'new').map(({ domain }) => domain);
}

/** Field for a name, which shows whether the regex matches the name. DNS matches names with the same code. */
function ExpressionTrial({ pattern }: { readonly pattern: string }): ReactNode {
  const { say } = useText();
  const reasonText = useLineReason();
  const [name, setName] = useState('');
  const trial = useTrial(pattern, name);
  return (
    <>
      <TextField
        label={say('rules.try')}
        help={say('rules.try.help')}
        value={name}
        onChange={setName}
        isCode
        keepsEnter
      />
      <div role="status">
        {trial !== null && 'reason' in trial && (
          <Callout tone="fault">{say('rules.try.bad', { reason: reasonText(trial.reason) })}</Callout>
        )}
        {trial !== null && 'matches' in trial && (
          <Callout tone={trial.matches ? 'good' : 'info'}>
            {say(trial.matches ? 'rules.try.yes' : 'rules.try.no')}
          </Callout>
        )}
      </div>
    </>
  );
}

/** Result of the trial; null until there is a regex and a name. */
function useTrial(pattern: string, name: string): Trial | null {
  const [trial, setTrial] = useState<Trial | null>(null);
  useEffect(() => {
    let isOld = false;
    setTrial(null);
    if (pattern.trim() === '' || name.trim() === '') return undefined;
    void import('./expression-trial.ts').then(({ tryExpression }) => {
      if (!isOld) setTrial(tryExpression(pattern.trim(), name));
    });
    return () => {
      isOld = true;
    };
  }, [pattern, name]);
  return trial;
}
