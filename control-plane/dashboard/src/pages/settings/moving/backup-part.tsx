/** Backup and restore of all settings as a file. */
import { Download } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { download, saveText } from '../../../api/download.ts';
import { useChange } from '../../../api/use-change.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { CheckboxField, TextField } from '../../../ui/controls/fields.tsx';
import { NO_PASSWORD } from '../../../ui/controls/new-password.ts';
import { FormFault } from '../../../ui/display/states.tsx';
import { Bar, Card, Stack } from '../../../ui/display/page.tsx';
import { RestoreCard } from './restore-card.tsx';

/** Minimum length of a passphrase, as in `Passphrase` of the API. */
const MIN_LENGTH = 12;

export default function BackupPart(): ReactNode {
  const { say } = useText();
  const [hasSecrets, setSecrets] = useState(false);
  const [typed, setTyped] = useState(NO_PASSWORD);
  const backup = useChange('POST /backup', {
    quiet: true,
    onDone: (file) => {
      setTyped(NO_PASSWORD);
      saveText(
        `${JSON.stringify(file, null, 2)}\n`,
        `weir-backup-${new Date().toISOString().slice(0, 10)}.json`,
      );
    },
  });
  const { password: passphrase, repeated } = typed;
  const isReady = passphrase.length >= MIN_LENGTH && repeated === passphrase;

  function start(): void {
    if (hasSecrets) void backup.run({ body: { passphrase } });
    else download('/backup', {}, 'weir-backup.json');
  }

  return (
    <>
      <Card title={say('backup.title')}>
        <Stack>
          <p>{say('backup.text')}</p>
          <CheckboxField isSelected={hasSecrets} onChange={setSecrets}>
            {say('backup.secrets')}
          </CheckboxField>
          {hasSecrets && (
            <>
              <TextField
                label={say('backup.passphrase')}
                help={say('backup.passphrase.help')}
                error={
                  passphrase !== '' && passphrase.length < MIN_LENGTH ? say('backup.passphrase.short') : null
                }
                value={passphrase}
                onChange={(password) => setTyped({ ...typed, password })}
                type="password"
                autoComplete="new-password"
                isRequired
              />
              <TextField
                label={say('backup.passphrase.repeat')}
                error={repeated !== '' && repeated !== passphrase ? say('backup.passphrase.differs') : null}
                value={repeated}
                onChange={(again) => setTyped({ ...typed, repeated: again })}
                type="password"
                autoComplete="new-password"
                isRequired
              />
            </>
          )}
          <FormFault failure={backup.failure} />
          <Bar>
            <Button
              kind="main"
              icon={Download}
              isDisabled={hasSecrets && !isReady}
              isPending={backup.isPending}
              onPress={start}
            >
              {say('backup.download')}
            </Button>
          </Bar>
        </Stack>
      </Card>
      <RestoreCard />
    </>
  );
}
