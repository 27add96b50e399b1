/** Custom rules: created with a name and groups, then edited in a text box. */
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import type { SourceKind } from '../../../../../shared/policy/source-kind.ts';
import type { TextVerdict } from '../../../../../shared/api/policy/custom-text-api.ts';
import { problemText } from '../../api/problem-text.ts';
import { useChange } from '../../api/use-change.ts';
import { useLineReason } from '../../i18n/reasons/use-reason-text.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/controls/fields.tsx';
import { Callout, FormFault } from '../../ui/display/states.tsx';
import { Stack } from '../../ui/display/page.tsx';
import { Drawer } from '../../ui/overlays/dialog.tsx';
import { GroupsField } from '../../ui/policy/groups.tsx';
import { operationsOf } from '../../ui/policy/list-operations.ts';
import type { Source } from './list-rows.ts';
import styles from './rule-box.module.css';
import { send } from '../../api/ask.ts';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { useFields } from '../../api/use-fields.ts';
import { TextField as AriaTextField } from 'react-aria-components/TextField';

const FIELDS = ['name', 'group_ids'];

interface AddRulesProps {
  readonly kind: SourceKind;
  readonly onClose: () => void;
  /** Called after the list was created, so that its rules can be edited. */
  readonly onAdded: (source: Source) => void;
}

/** Form for the name and groups of new custom rules. */
export function AddRulesDrawer({ kind, onClose, onAdded }: AddRulesProps): ReactNode {
  const { say } = useText();
  const create = useChange(operationsOf(kind).create, { onDone: onAdded, quiet: true });
  const start = { name: say('lists.custom'), groupIds: null as readonly number[] | null };
  const { fields, bind } = useFields(start, create.failure);
  const { name, groupIds } = fields;
  const isReady = name.trim() !== '' && groupIds?.length !== 0;
  const body = { name: name.trim(), text: '', group_ids: [...(groupIds ?? [])] };
  return (
    <Drawer
      title={say('lists.custom.add')}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button
            kind="main"
            isDisabled={!isReady}
            isPending={create.isPending}
            onPress={() => void create.run({ body })}
          >
            {say('lists.custom.write')}
          </Button>
        </>
      }
    >
      <Stack>
        <TextField label={say('field.name')} {...bind('name')} />
        <GroupsField
          label={say('field.for')}
          {...bind('groupIds', 'group_ids')}
          {...(groupIds?.length === 0 && { error: say('groups.chooseOne') })}
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

/** Editor for existing custom rules. */
export function RulesDrawer({ kind, source, onClose }: RulesDrawerProps): ReactNode {
  const { say } = useText();
  const reasonText = useLineReason();
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
        <>
          <Button onPress={onClose} isDisabled={save.isPending}>
            {say('action.cancel')}
          </Button>
          <Button kind="main" isDisabled={text === null} isPending={save.isPending} onPress={write}>
            {say('action.save')}
          </Button>
        </>
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
        <section>
          <p role="status">
            {say('lists.custom.sums', { rules: verdict.rules, refused: verdict.refused.length })}
          </p>
          {verdict.refused.length > 0 && (
            <ol className={styles['refused']} tabIndex={0} aria-label={say('lists.badLines')}>
              {verdict.refused.map(({ line, reason }) => (
                <li key={line}>{say('lists.badLine', { line, reason: reasonText(reason) })}</li>
              ))}
            </ol>
          )}
        </section>
        <FormFault failure={save.failure} />
      </Stack>
    </Drawer>
  );
}

/** Delay between the last key press and the check of the text. */
const PAUSE_MS = 300;
const NO_VERDICT: TextVerdict = { rules: 0, refused: [] };

/** State of the text in the editor. */
interface RuleText {
  /** The text; null until it is loaded. */
  readonly text: string | null;
  readonly setText: (text: string) => void;
  /** Check result for the text, or for a slightly older version of it. */
  readonly verdict: TextVerdict;
  /** ETag of the text when it was loaded. */
  readonly etag: string;
  /** Error when the text was loaded. */
  readonly failure: Error | null;
}

/** Loads and checks the rules of a source. */
function useRuleText(kind: SourceKind, id: number): RuleText {
  const operations = operationsOf(kind);
  const [text, setText] = useState<string | null>(null);
  const [etag, setEtag] = useState('*');
  const [failure, setFailure] = useState<Error | null>(null);
  const [verdict, setVerdict] = useState(NO_VERDICT);

  useEffect(() => {
    const left = new AbortController();
    const read = async (): Promise<void> => {
      const { answer, headers } = await send(operations.text, { params: { id }, signal: left.signal });
      const stored = await answer.text();
      setEtag(headers.get('ETag') ?? '*');
      setText(stored);
    };
    read().catch((error: unknown) => {
      if (!left.signal.aborted) setFailure(error instanceof Error ? error : new Error(String(error)));
    });
    return () => left.abort();
  }, [operations.text, id]);

  useEffect(() => {
    if (text === null) return undefined;
    const outdated = new AbortController();
    const judge = async (): Promise<void> => {
      const call = { params: { id }, query: { dry_run: true }, body: text, signal: outdated.signal } as const;
      const { answer } = await send(operations.writeText, call);
      if (!outdated.signal.aborted) setVerdict(answer);
    };
    // Ignore errors: the marks are optional, the text can still be saved, and saving reports errors.
    const timer = setTimeout(() => void judge().catch(() => undefined), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      outdated.abort();
    };
  }, [operations.writeText, id, text]);

  return { text, setText, verdict, etag, failure };
}

interface RuleBoxProps {
  readonly label: string;
  readonly help: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly refused: TextVerdict['refused'];
  readonly isDisabled: boolean;
}

/** Text box with marks for invalid lines. Lines do not wrap, so that each mark is beside its line. */
function RuleBox({ label, help, value, onChange, refused, isDisabled }: RuleBoxProps): ReactNode {
  const [scrolled, setScrolled] = useState(0);
  return (
    <AriaTextField
      className={styles['field'] ?? ''}
      value={value}
      onChange={onChange}
      isDisabled={isDisabled}
    >
      <Label className={styles['label'] ?? ''}>{label}</Label>
      <div className={styles['box']}>
        <div className={styles['marks']} aria-hidden>
          {refused.map(({ line }) => (
            <div
              key={line}
              className={styles['mark']}
              style={{ insetBlockStart: `calc(${line - 1} * var(--rule-line) - ${scrolled}px)` }}
            />
          ))}
        </div>
        <TextArea
          className={styles['text'] ?? ''}
          rows={16}
          wrap="off"
          spellCheck="false"
          autoCorrect="off"
          autoCapitalize="none"
          onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop)}
        />
      </div>
      <Text slot="description" className={styles['help'] ?? ''}>
        {help}
      </Text>
    </AriaTextField>
  );
}
