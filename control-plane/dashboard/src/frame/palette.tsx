/** Search over pages, actions, devices, policy, settings, and the reason why a domain is blocked. Opens with Ctrl+K. */
import {
  CornerDownLeft,
  Globe,
  LayoutGrid,
  ListChecks,
  MonitorSmartphone,
  Settings,
  ShieldBan,
  Users,
  Zap,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Autocomplete } from 'react-aria-components/Autocomplete';
import { Menu, MenuItem } from 'react-aria-components/Menu';
import { useLocation } from 'wouter';
import { useChange } from '../api/use-change.ts';
import { useMe } from '../api/session.tsx';
import { useText } from '../i18n/text.ts';
import { SearchField } from '../ui/controls/fields.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { useMedia } from '../ui/screen/use-media.ts';
import { LISTED_PAGES } from './pages.ts';
import type { MessageKey } from '../i18n/language.ts';
import { matchingEntries, nameIn } from './palette-entries.ts';
import type { PaletteEntry } from './palette-entries.ts';
import { useFound } from './palette-found.ts';
import styles from './palette.module.css';

const ICONS: Readonly<Record<PaletteEntry['kind'], LucideIcon>> = {
  page: CornerDownLeft,
  action: Zap,
  client: MonitorSmartphone,
  name: Globe,
  group: Users,
  service: LayoutGrid,
  list: ListChecks,
  rule: ShieldBan,
  setting: Settings,
};

/** The page that an entry belongs to, by which users distinguish results with the same name. */
const PLACES: Readonly<Partial<Record<PaletteEntry['kind'], MessageKey>>> = {
  client: 'page.clients',
  group: 'page.groups',
  service: 'page.services',
  list: 'page.lists',
  rule: 'page.rules',
  setting: 'page.settings',
};

const PAUSE_SECS = 300;
/** Touch devices have no keys to press. */
const HAS_KEYBOARD = '(hover: hover) and (pointer: fine)';

/** The open palette; its parent controls whether it is shown. */
export default function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { say } = useText();
  const [text, setText] = useState('');
  const entries = useEntries(text);
  const hasKeyboard = useMedia(HAS_KEYBOARD);
  return (
    <Dialog
      title={
        <>
          {say('palette.title')} {hasKeyboard && <span className="quiet">{say('palette.keys')}</span>}
        </>
      }
      isOpen
      onClose={onClose}
    >
      <Autocomplete inputValue={text} onInputChange={setText} filter={() => true}>
        <SearchField label={say('palette.search')} value={text} onChange={setText} autoFocus />
        <Menu
          className={styles['entries'] ?? ''}
          aria-label={say('palette.title')}
          renderEmptyState={() => <p className={styles['nothing']}>{say('palette.nothing')}</p>}
          onAction={(key) => {
            onClose();
            entries.find(({ id }) => id === key)?.run();
          }}
        >
          {entries.map(({ id, text: shown, kind }) => {
            const Icon = ICONS[kind];
            const place = PLACES[kind];
            return (
              <MenuItem key={id} id={id} textValue={shown} className={styles['entry'] ?? ''}>
                <Icon size={18} aria-hidden />
                <bdi>{shown}</bdi>
                {place !== undefined && <span className={styles['place']}>{say(place)}</span>}
              </MenuItem>
            );
          })}
        </Menu>
      </Autocomplete>
    </Dialog>
  );
}

/** Entries that match the text: those of the dashboard itself, and search results of the server. */
function useEntries(text: string): PaletteEntry[] {
  const { say, format } = useText();
  const { isAdmin } = useMe();
  const [, go] = useLocation();
  const pause = useChange('POST /blocking', { done: 'blocking.paused' });
  const resume = useChange('POST /blocking', { done: 'blocking.resumed' });
  const found = useFound(text, go);
  const pages = LISTED_PAGES.map(({ path, title }): PaletteEntry => ({
    id: path,
    text: say(title),
    kind: 'page',
    run: () => go(path),
  }));
  const actions: PaletteEntry[] = [
    {
      id: 'pause',
      text: say('palette.pause', { span: format.span(PAUSE_SECS) }),
      kind: 'action',
      run: () => void pause.run({ body: { enabled: false, timer_secs: PAUSE_SECS } }),
    },
    {
      id: 'resume',
      text: say('palette.resume'),
      kind: 'action',
      run: () => void resume.run({ body: { enabled: true } }),
    },
  ];
  const why: PaletteEntry = { id: 'why', text: say('page.why'), kind: 'page', run: () => go('/why') };
  const name = nameIn(text);
  const names: PaletteEntry[] =
    name === null
      ? []
      : [
          {
            id: 'name',
            text: say('palette.name', { name }),
            kind: 'name',
            run: () => go(`/queries?domain=${encodeURIComponent(name)}`),
          },
          {
            id: 'why-name',
            text: say('palette.why', { name }),
            kind: 'name',
            run: () => go(`/why?name=${encodeURIComponent(name)}`),
          },
        ];
  return [...matchingEntries([...pages, why, ...(isAdmin ? actions : [])], text), ...names, ...found];
}
