/** How names of the local network are looked up. */
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { fieldProblem } from '../../api/problem-text.ts';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useText } from '../../i18n/text.ts';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField, TextField } from '../../ui/controls/fields.tsx';
import { Answered, FormFault } from '../../ui/display/states.tsx';
import { Stack } from '../../ui/display/page.tsx';
import styles from './names-page.module.css';

type DnsSettings = AnswerOf<'GET /settings'>;

/** The settings. */
export function LocalSettings(): ReactNode {
  const settings = useAsk('GET /settings', {});
  return <Answered of={settings}>{(now) => <Form settings={now} />}</Answered>;
}

function Form({ settings }: { readonly settings: DnsSettings }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  // Only what was changed here: the rest follows the server.
  const [changed, setChanged] = useState<Partial<DnsSettings>>({});
  const fields = { ...settings, ...changed };
  const set = (more: Partial<DnsSettings>): void => setChanged({ ...changed, ...more });
  const change = useChange('POST /settings', {
    done: 'names.settings.saved',
    onDone: () => setChanged({}),
    quiet: true,
  });
  const { failure } = change;
  const isDifferent = (Object.keys(changed) as (keyof DnsSettings)[]).some(
    (key) => changed[key] !== settings[key],
  );
  return (
    <div className={styles['form']}>
      <Stack>
        <TextField
          label={say('names.tab.settings')}
          help={say('names.settings.domain.help')}
          value={fields.local_domain}
          onChange={(domain) => set({ local_domain: domain })}
          error={fieldProblem(failure, 'local_domain')}
          isDisabled={!isAdmin}
          isCode
        />
        <TextField
          label={say('names.settings.server')}
          help={say('names.settings.server.help')}
          value={fields.local_dns_server}
          onChange={(server) => set({ local_dns_server: server })}
          error={fieldProblem(failure, 'local_dns_server')}
          isDisabled={!isAdmin}
          isCode
        />
        <CheckboxField
          isSelected={fields.never_forward_non_fqdn}
          onChange={(never) => set({ never_forward_non_fqdn: never })}
          isDisabled={!isAdmin}
        >
          {say('names.settings.singleLabels')}
        </CheckboxField>
        <CheckboxField
          isSelected={fields.never_forward_reverse_lookups}
          onChange={(never) => set({ never_forward_reverse_lookups: never })}
          isDisabled={!isAdmin}
        >
          {say('names.settings.reverse')}
        </CheckboxField>
        <FormFault failure={failure} fields={['local_domain', 'local_dns_server']} />
        {isAdmin && (
          <div>
            <Button
              kind="main"
              isDisabled={!isDifferent}
              isPending={change.isPending}
              onPress={() => void change.run({ body: changed })}
            >
              {say('action.save')}
            </Button>
          </div>
        )}
      </Stack>
    </div>
  );
}
