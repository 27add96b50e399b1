/** Choices before an import: questions, differences, and the settings that the import would change. */
import type { ReactNode } from 'react';
import { useImportReason, useItemName } from '../../../i18n/reasons/use-import-reason.ts';
import { useText } from '../../../i18n/text.ts';
import { CheckboxField, SelectField } from '../../../ui/controls/fields.tsx';
import { DataTable } from '../../../ui/display/data-table.tsx';
import { Stack } from '../../../ui/display/page.tsx';
import { CONFIG_KEYS } from '../keys/config-key.ts';
import { useKeyHelp } from '../keys/key-help.ts';
import {
  type Choices,
  configKeyOf,
  type Question,
  type Setting,
  valueText,
  withSetting,
} from './import-choices.ts';
import type { Report } from './import-rows.ts';
import styles from './moving.module.css';

interface ImportChoicesViewProps {
  readonly report: Report;
  readonly choices: Choices;
  readonly isDisabled: boolean;
  readonly onChange: (choices: Choices) => void;
}

export function ImportChoicesView({
  report,
  choices,
  isDisabled,
  onChange,
}: ImportChoicesViewProps): ReactNode {
  const { say } = useText();
  const { questions, settings } = report;
  return (
    <>
      {questions.length > 0 && (
        <section className={styles['kind']}>
          <h3>{say('import.questions')}</h3>
          <div className={styles['form']}>
            <Stack>
              {questions.map((question) => (
                <QuestionField
                  key={question.id}
                  question={question}
                  choice={choices.answers[question.id] ?? question.choice}
                  isDisabled={isDisabled}
                  onChange={(choice) =>
                    onChange({ ...choices, answers: { ...choices.answers, [question.id]: choice } })
                  }
                />
              ))}
            </Stack>
          </div>
        </section>
      )}
      <Differences report={report} />
      {settings.length > 0 && (
        <section className={styles['kind']}>
          <h3>{say('page.settings')}</h3>
          <p>{say('import.settings.text')}</p>
          <ul className={styles['settings']}>
            {settings.map((setting) => (
              <SettingRow
                key={setting.key}
                setting={setting}
                isSelected={choices.selected.has(setting.key)}
                isDisabled={isDisabled || !setting.can_select}
                onChange={(isSelected) => onChange(withSetting(choices, setting.key, isSelected))}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Answers to DNS queries that would change, most queried names first. */
export function Differences({ report: { differences } }: { readonly report: Report }): ReactNode {
  const { say, format } = useText();
  const reasonText = useImportReason();
  const itemName = useItemName();
  if (differences.length === 0) return null;
  const isCounted = differences.some(({ queries }) => queries !== null);
  const rows = differences.map((difference, key) => ({ ...difference, key }));
  return (
    <section className={styles['kind']}>
      <h3>{say('import.differences')}</h3>
      <DataTable
        label={say('import.differences')}
        rows={rows}
        keyOf={({ key }) => key}
        columns={[
          {
            id: 'name',
            title: say('import.name'),
            isName: true,
            cell: ({ name }) => <bdi>{itemName(name)}</bdi>,
          },
          ...(isCounted
            ? [
                {
                  id: 'queries',
                  title: say('import.queries'),
                  isNumber: true,
                  cell: ({ queries }: { queries: number | null }) =>
                    queries === null ? '–' : format.count(queries),
                },
              ]
            : []),
          { id: 'why', title: say('import.why'), cell: ({ reason }) => reasonText(reason) },
        ]}
      />
    </section>
  );
}

interface QuestionFieldProps {
  readonly question: Question;
  readonly choice: string;
  readonly isDisabled: boolean;
  readonly onChange: (choice: string) => void;
}

function QuestionField({
  question: { kind, name, choices },
  choice,
  isDisabled,
  onChange,
}: QuestionFieldProps): ReactNode {
  const { say } = useText();
  return (
    <SelectField<string>
      label={say(`import.question.${kind}`, { name })}
      value={choice}
      isDisabled={isDisabled}
      onChange={onChange}
      choices={choices.map(({ id, text }) => ({
        id,
        text: say(`import.choice.${id}`, { text }),
      }))}
    />
  );
}

interface SettingRowProps {
  readonly setting: Setting;
  readonly isSelected: boolean;
  readonly isDisabled: boolean;
  readonly onChange: (isSelected: boolean) => void;
}

function SettingRow({ setting, isSelected, isDisabled, onChange }: SettingRowProps): ReactNode {
  const reasonText = useImportReason();
  const { textOf, languageOf } = useKeyHelp();
  const key = configKeyOf(setting);
  const entry = CONFIG_KEYS.find((one) => one.key === key);
  return (
    <li>
      <CheckboxField isSelected={isSelected} isDisabled={isDisabled} onChange={onChange}>
        <code>
          {key} = {valueText(setting.value)}
        </code>
      </CheckboxField>
      {entry !== undefined && (
        <span className="quiet" lang={languageOf(entry)}>
          {textOf(entry)}
        </span>
      )}
      {setting.reason !== null && <span>{reasonText(setting.reason)}</span>}
    </li>
  );
}
