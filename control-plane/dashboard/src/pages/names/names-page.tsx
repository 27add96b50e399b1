/** Page of local names: records, forward zones, and settings for the local domain. */
import type { ReactNode } from 'react';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { Segments } from '../../ui/controls/segments.tsx';
import { Bar, Card, Page, Stack } from '../../ui/display/page.tsx';
import { RecordList } from './record-list.tsx';
import { ZoneList } from './zone-list.tsx';
import { useState } from 'react';
import type { AnswerOf } from '../../../../../shared/api/client/typed-client.ts';
import { fieldProblem } from '../../api/problem-text.ts';
import { useMe } from '../../api/session.tsx';
import { useAsk } from '../../api/use-ask.ts';
import { useChange } from '../../api/use-change.ts';
import { useGuard } from '../../api/use-guard.ts';
import { ChangedSince, isSame } from '../../ui/overlays/changed-elsewhere.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { CheckboxField, TextField } from '../../ui/controls/fields.tsx';
import { Answered, FormFault } from '../../ui/display/states.tsx';
import styles from './names-page.module.css';

const DEFAULTS = { tab: 'records', search: '', type: '', source: '', from: '0' };
const TABS = ['records', 'zones', 'settings'] as const;

export default function NamesPage(): ReactNode {
  const { say } = useText();
  const [{ tab: written }, setFields] = useUrlState(DEFAULTS);
  const tab = TABS.find((one) => one === written) ?? 'records';
  return (
    <Page title={say('page.names')} lead={say('names.lead')}>
      <Bar>
        <Segments
          label={say('names.part')}
          value={tab}
          onChange={(chosen) => setFields({ ...DEFAULTS, tab: chosen })}
          choices={TABS.map((id) => ({ id, text: say(`names.tab.${id}`) }))}
        />
      </Bar>
      <Card>
        {tab === 'records' && <RecordList />}
        {tab === 'zones' && <ZoneList />}
        {tab === 'settings' && <LocalSettings />}
      </Card>
    </Page>
  );
}

type DnsSettings = AnswerOf<'GET /settings'>;

/** Settings for names of the local network. */
function LocalSettings(): ReactNode {
  const settings = useAsk('GET /settings', {});
  return <Answered of={settings}>{(now) => <Form settings={now} />}</Answered>;
}

function Form({ settings }: { readonly settings: DnsSettings }): ReactNode {
  const { say } = useText();
  const { isAdmin } = useMe();
  // Contains only fields that the user has changed; all other fields show the server's values.
  const [changed, setChanged] = useState<Partial<DnsSettings>>({});
  const fields = { ...settings, ...changed };
  const set = (more: Partial<DnsSettings>): void => setChanged({ ...changed, ...more });
  const change = useChange('POST /settings', {
    done: 'action.saved',
    onDone: () => setChanged({}),
    quiet: true,
  });
  const { failure } = change;
  const guard = useGuard({
    read: 'GET /settings',
    id: Object.keys(changed).length === 0 ? null : 'settings',
    by: null,
    isAsBegun: (now) => isSame(now, settings),
    failure,
  });
  const save = (): void => void change.run({ body: changed, ...guard.headers() });
  const words = (of: DnsSettings): string[] => [
    of.local_domain,
    of.local_dns_server,
    say(of.never_forward_non_fqdn ? 'field.yes' : 'field.no'),
    say(of.never_forward_reverse_lookups ? 'field.yes' : 'field.no'),
  ];
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
        <FormFault failure={guard.failure} fields={['local_domain', 'local_dns_server']} />
        <ChangedSince
          guard={guard}
          labels={[
            say('names.tab.settings'),
            say('names.settings.server'),
            say('names.settings.singleLabels'),
            say('names.settings.reverse'),
          ]}
          mine={words(fields)}
          wordsOf={words}
          isPending={change.isPending}
          onUse={setChanged}
          onKeep={save}
        />
        {isAdmin && (
          <div>
            <Button kind="main" isDisabled={!isDifferent} isPending={change.isPending} onPress={save}>
              {say('action.save')}
            </Button>
          </div>
        )}
      </Stack>
    </div>
  );
}
