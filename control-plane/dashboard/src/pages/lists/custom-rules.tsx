/** Custom rules: made with a name and groups, then written in a box. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import type { TextVerdict } from '../../../../../shared/api/policy/custom-text-api.ts';
import { fieldProblem, problemText } from '../../api/problem-text.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/controls/fields.tsx';
import { FormFault } from '../../ui/display/form-fault.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Callout } from '../../ui/display/states.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { GroupsField } from '../../ui/policy/groups.tsx';
import { operationsOf } from './list-rows.ts';
import type { Source } from './list-rows.ts';
import { RuleBox } from './rule-box.tsx';
import styles from './rule-box.module.css';
import { useRuleText } from './use-rule-text.ts';

const FIELDS = ['name', 'group_ids'];

interface AddRulesProps {
  readonly kind: SourceKind;
  readonly onClose: () => void;
  /** They can be written now. */
  readonly onAdded: (source: Source) => void;
}

/** The name and the groups of new ones. */
export function AddRulesDrawer({ kind, onClose, onAdded }: AddRulesProps): ReactNode {
  const { say } = useText();
  const [name, setName] = useState(() => say('lists.custom'));
  const [groupIds, setGroupIds] = useState<readonly number[] | null>(null);
  const create = useChange(operationsOf(kind).create, { onDone: onAdded, quiet: true });
  const isReady = name.trim() !== '' && groupIds?.length !== 0;
  const body = { name: name.trim(), text: '', group_ids: [...(groupIds ?? [])] };
  return (
    <Drawer
      title={say('lists.custom.add')}
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="main"
          isDisabled={!isReady}
          isPending={create.isPending}
          onPress={() => void create.run({ body })}
        >
          {say('lists.custom.write')}
        </Button>
      }
    >
      <Stack>
        <TextField
          label={say('field.name')}
          value={name}
          onChange={setName}
          error={fieldProblem(create.failure, 'name')}
        />
        <GroupsField
          label={say('field.for')}
          value={groupIds}
          onChange={setGroupIds}
          error={groupIds?.length === 0 ? say('groups.chooseOne') : fieldProblem(create.failure, 'group_ids')}
        />
        <FormFault failure={create.failure} fields={FIELDS} />
      </Stack>
    </Drawer>
  );
}

interface RulesDrawerProps {
  readonly kind: SourceKind;
  readonly source: Source;
  readonly onClose: () => void;
}

/** The box of existing ones. */
export function RulesDrawer({ kind, source, onClose }: RulesDrawerProps): ReactNode {
  const { say } = useText();
  const { text, setText, verdict, etag, failure } = useRuleText(kind, source.id);
  const save = useChange(operationsOf(kind).writeText, {
    done: 'lists.custom.saved',
    onDone: onClose,
    quiet: true,
  });
  const write = (): void => {
    if (text === null) return;
    void save.run({ params: { id: source.id }, query: {}, body: text, headers: { 'If-Match': etag } });
  };
  return (
    <Drawer
      title={<bdi>{source.name}</bdi>}
      isOpen
      isKept={save.isPending}
      onClose={onClose}
      actions={
        <Button kind="main" isDisabled={text === null} isPending={save.isPending} onPress={write}>
          {say('action.save')}
        </Button>
      }
    >
      <Stack>
        {failure !== null && <Callout tone="fault">{problemText(failure)}</Callout>}
        <RuleBox
          label={say('page.rules')}
          help={say('lists.custom.help')}
          value={text ?? ''}
          onChange={setText}
          refused={verdict.refused}
          isDisabled={text === null}
        />
        <Verdict verdict={verdict} />
        <FormFault failure={save.failure} fields={[]} />
      </Stack>
    </Drawer>
  );
}

function Verdict({ verdict: { rules, refused } }: { readonly verdict: TextVerdict }): ReactNode {
  const { say } = useText();
  return (
    <section>
      <p role="status">{say('lists.custom.sums', { rules, refused: refused.length })}</p>
      {refused.length > 0 && (
        <ol className={styles['refused']} tabIndex={0} aria-label={say('lists.badLines')}>
          {refused.map(({ line, reason }) => (
            <li key={line}>{say('lists.badLine', { line, reason })}</li>
          ))}
        </ol>
      )}
    </section>
  );
}
