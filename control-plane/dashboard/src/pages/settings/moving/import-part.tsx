/** Imports the configuration of another program, after a preview. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { SelectField } from '../../../ui/controls/fields.tsx';
import { FileField } from '../../../ui/controls/file-field.tsx';
import { FormFault } from '../../../ui/display/states.tsx';
import { Bar, Card, Stack } from '../../../ui/display/page.tsx';
import { Progress } from '../../../ui/display/progress.tsx';
import { type Choices, proposedChoices, queryOf } from './import-choices.ts';
import { Differences, ImportChoicesView } from './import-choices-view.tsx';
import { ImportView } from './import-view.tsx';
import { PROGRAMS } from './import-rows.ts';
import type { Report } from './import-rows.ts';
import styles from './moving.module.css';

type Format = Report['format'] | 'auto';

const FORMATS = Object.keys(PROGRAMS) as readonly Report['format'][];

const NO_CHOICES: Choices = { selected: new Set(), answers: {} };

export default function ImportPart(): ReactNode {
  const { say } = useText();
  const [format, setFormat] = useState<Format>('auto');
  const [file, setFile] = useState<File | null>(null);
  const [report, setReport] = useState<Report | null>(null);
  const [choices, setChoices] = useState<Choices>(NO_CHOICES);
  const trial = useChange('POST /import', {
    quiet: true,
    onDone: (tried) => {
      setReport(tried);
      setChoices(proposedChoices(tried));
    },
  });
  const takeOver = useChange('POST /import', { done: 'import.done', quiet: true, onDone: setReport });
  const isPending = trial.isPending || takeOver.isPending;

  async function tryImport(chosen: File | null, as: Format): Promise<void> {
    trial.reset();
    takeOver.reset();
    setFile(chosen);
    setFormat(as);
    setReport(null);
    if (chosen !== null)
      await trial.run({ body: await octetsOf(chosen), query: { format: as, dry_run: true } });
  }

  async function apply(as: Report['format']): Promise<void> {
    if (file !== null)
      await takeOver.run({ body: await octetsOf(file), query: { format: as, ...queryOf(choices) } });
  }

  return (
    <>
      <Card title={say('settings.part.import')}>
        <div className={styles['form']}>
          <Stack>
            <p>{say('import.text')}</p>
            <SelectField
              label={say('import.format')}
              value={format}
              isDisabled={isPending}
              onChange={(chosen) => void tryImport(file, chosen)}
              choices={[
                { id: 'auto', text: say('import.format.auto') },
                ...FORMATS.map((id) => ({ id, text: PROGRAMS[id], help: say(`import.format.${id}`) })),
              ]}
            />
            <FileField
              label={say('import.file')}
              help={say(format === 'auto' ? 'import.file.help' : `import.format.${format}`)}
              file={file}
              isDisabled={isPending}
              onFile={(chosen) => void tryImport(chosen, format)}
            />
            <FormFault failure={trial.failure ?? takeOver.failure} />
            {isPending && <Progress>{say(trial.isPending ? 'import.reading' : 'import.writing')}</Progress>}
          </Stack>
        </div>
      </Card>
      {report !== null && (
        <Card title={say(report.dry_run ? 'action.preview' : 'import.report')}>
          <ImportView
            report={report}
            actions={
              report.dry_run ? (
                <>
                  <ImportChoicesView
                    report={report}
                    choices={choices}
                    isDisabled={isPending}
                    onChange={setChoices}
                  />
                  {canImport(report) && (
                    <Bar>
                      <Button kind="main" isPending={isPending} onPress={() => void apply(report.format)}>
                        {say('import.action')}
                      </Button>
                    </Bar>
                  )}
                </>
              ) : (
                <Differences report={report} />
              )
            }
          />
        </Card>
      )}
    </>
  );
}

/** Whether there is anything to import or to choose. */
function canImport({ counts, settings, questions }: Report): boolean {
  return counts.done + counts.changed + settings.length + questions.length > 0;
}

async function octetsOf(file: File): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.arrayBuffer());
}
