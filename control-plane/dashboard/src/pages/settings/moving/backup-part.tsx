/** All that people have set, as a file, and back from one. */
import { Download } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { download } from '../../../api/download.ts';
import { useText } from '../../../i18n/text.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { CheckboxField } from '../../../ui/controls/fields.tsx';
import { Bar, Card, Stack } from '../../../ui/display/page.tsx';
import { Callout } from '../../../ui/display/states.tsx';
import { RestoreCard } from './restore-card.tsx';

/** The part. */
export default function BackupPart(): ReactNode {
  const { say } = useText();
  const [hasSecrets, setSecrets] = useState(false);
  return (
    <>
      <Card title={say('backup.title')}>
        <Stack>
          <p>{say('backup.text')}</p>
          <CheckboxField isSelected={hasSecrets} onChange={setSecrets}>
            {say('backup.secrets')}
          </CheckboxField>
          {hasSecrets && <Callout tone="warning">{say('backup.secrets.careful')}</Callout>}
          <Bar>
            <Button
              kind="main"
              icon={Download}
              onPress={() => download('/backup', { secrets: `${hasSecrets}` }, 'weir-backup.json')}
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
