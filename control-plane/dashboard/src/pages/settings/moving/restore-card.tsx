/** Restores a backup after a preview of its changes. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { CallOf } from '../../../../../../shared/api/client/typed-client.ts';
import { useChange } from '../../../api/use-change.ts';
import { useFailureWithReasons } from '../../../i18n/reasons/use-reason-text.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { FileField } from '../../../ui/controls/file-field.tsx';
import { FormFault } from '../../../ui/display/states.tsx';
import { Bar, Card, Stack } from '../../../ui/display/page.tsx';
import { Progress } from '../../../ui/display/progress.tsx';
import { RestoreView } from './restore-view.tsx';
import { isEncrypted, parsedJson, sumsOf } from './restore-words.ts';
import type { Difference } from './restore-words.ts';
import { TextField } from '../../../ui/controls/fields.tsx';

type Backup = CallOf<'POST /restore'>['body'];

export function RestoreCard(): ReactNode {
  const { say } = useText();
  const [file, setFile] = useState<File | null>(null);
  const [backup, setBackup] = useState<Backup | null>(null);
  const [isForeign, setForeign] = useState(false);
  const [passphrase, setPassphrase] = useState('');
  const [difference, setDifference] = useState<Difference | null>(null);
  const trial = useChange('POST /restore', { quiet: true, onDone: setDifference });
  const restore = useChange('POST /restore', {
    done: 'restore.done',
    quiet: true,
    onDone: () => {
      setFile(null);
      setBackup(null);
      setPassphrase('');
      setDifference(null);
    },
  });
  const failure = useFailureWithReasons(trial.failure ?? restore.failure);

  async function open(chosen: File): Promise<void> {
    trial.reset();
    restore.reset();
    setFile(chosen);
    setBackup(null);
    setPassphrase('');
    setDifference(null);
    const content = parsedJson(await chosen.text());
    setForeign(content === null);
    if (content === null) return;
    setBackup(content as Backup);
    if (!isEncrypted(content)) await trial.run({ body: content as Backup, query: { dry_run: true } });
  }

  const needsPassphrase = backup !== null && isEncrypted(backup);
  const body = needsPassphrase ? { ...backup, passphrase } : backup;

  return (
    <Card title={say('restore.action')}>
      <Stack>
        <FileField
          label={say('restore.file')}
          help={say('restore.file.help')}
          types={['.json', 'application/json']}
          file={file}
          error={isForeign ? say('restore.foreign') : null}
          isDisabled={restore.isPending}
          onFile={(chosen) => void open(chosen)}
        />
        {needsPassphrase && (
          <TextField
            label={say('restore.passphrase')}
            help={say('restore.passphrase.help')}
            value={passphrase}
            onChange={(text) => {
              setPassphrase(text);
              setDifference(null);
            }}
            type="password"
            autoComplete="off"
            isRequired
          />
        )}
        {needsPassphrase && difference === null && (
          <Bar>
            <Button
              kind="main"
              isDisabled={passphrase === ''}
              isPending={trial.isPending}
              onPress={() => void trial.run({ body: body!, query: { dry_run: true } })}
            >
              {say('restore.compare')}
            </Button>
          </Bar>
        )}
        <FormFault failure={failure} />
        {trial.isPending && <Progress>{say('restore.comparing')}</Progress>}
        {difference !== null && body !== null && (
          <RestoreView
            difference={difference}
            actions={
              difference.changes.length > 0 && (
                <Bar>
                  <Button
                    kind={sumsOf(difference).removed > 0 ? 'danger' : 'main'}
                    isPending={restore.isPending}
                    onPress={() => void restore.run({ body })}
                  >
                    {say('restore.action')}
                  </Button>
                </Bar>
              )
            }
          />
        )}
      </Stack>
    </Card>
  );
}
