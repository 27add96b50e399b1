/** Settings: configuration keys, users and their sessions, certificates and backups. */
import { lazy } from 'react';
import type { ComponentType, ReactNode } from 'react';
import { Link } from 'wouter';
import { useMe } from '../../api/session.tsx';
import { useUrlState } from '../../api/url-state.ts';
import { useText } from '../../i18n/text.ts';
import { SearchField, SelectField } from '../../ui/controls/fields.tsx';
import { Appearance } from '../../ui/display/appearance.tsx';
import { Card, Page, Stack } from '../../ui/display/page.tsx';
import { CONFIG_KEYS, findKeys, sectionOf } from './keys/config-key.ts';
import { useKeyHelp } from './keys/key-help.ts';
import { KeyList } from './keys/key-list.tsx';
import { FIRST, isSection, partsFor } from './parts.ts';
import type { Part } from './parts.ts';
import styles from './settings-page.module.css';

const DEFAULTS = { part: FIRST as string, search: '' };

/** Views of the parts, which are loaded when they are opened. */
const VIEWS: Readonly<Partial<Record<Part, ComponentType>>> = {
  account: lazy(() => import('./account/account-part.tsx')),
  sessions: lazy(() => import('./account/sessions-part.tsx')),
  users: lazy(() => import('./people/users-part.tsx')),
  tokens: lazy(() => import('./people/tokens-part.tsx')),
  backup: lazy(() => import('./moving/backup-part.tsx')),
  import: lazy(() => import('./moving/import-part.tsx')),
  tls: lazy(() => import('./tls/tls-part.tsx')),
  appearance: AppearancePart,
};

/** The part and the search are in the URL. */
export default function SettingsPage(): ReactNode {
  const { say } = useText();
  const me = useMe();
  const [{ part: wanted, search }, setFields] = useUrlState(DEFAULTS);
  const parts = partsFor(me);
  const { textOf } = useKeyHelp();
  const part = parts.find((one) => one === wanted) ?? FIRST;
  return (
    <Page title={say('page.settings')}>
      <div className={styles['settings']}>
        <div className={styles['side']}>
          <SearchField
            label={say('settings.search')}
            value={search}
            onChange={(text) => setFields({ search: text }, { replace: true })}
          />
          <nav className={styles['parts']} aria-label={say('settings.parts')}>
            {parts.map((one) => (
              <Link
                key={one}
                to={`/settings?part=${one}`}
                aria-current={one === part && search === '' ? 'page' : undefined}
              >
                {say(`settings.part.${one}`)}
              </Link>
            ))}
          </nav>
          <div className={styles['choice']}>
            <SelectField
              label={say('settings.parts')}
              isLabelHidden
              value={part}
              choices={parts.map((id) => ({ id, text: say(`settings.part.${id}`) }))}
              onChange={(chosen) => setFields({ part: chosen, search: '' })}
            />
          </div>
        </div>
        <Stack>
          {search.trim() === '' ? <PartView part={part} /> : <KeyList keys={findKeys(search, textOf)} />}
        </Stack>
      </div>
    </Page>
  );
}

function PartView({ part }: { readonly part: Part }): ReactNode {
  const { say } = useText();
  const View = VIEWS[part];
  if (View !== undefined) return <View />;
  return isSection(part) ? (
    <KeyList
      keys={CONFIG_KEYS.filter((entry) => sectionOf(entry) === part)}
      title={say(`settings.part.${part}`)}
    />
  ) : null;
}

function AppearancePart(): ReactNode {
  const { say } = useText();
  return (
    <Card title={say('settings.part.appearance')}>
      <Appearance />
    </Card>
  );
}
