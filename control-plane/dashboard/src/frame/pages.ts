/** All pages, with their paths, titles and loaders. */
import {
  Activity,
  BookOpen,
  CalendarClock,
  CircleHelp,
  FlaskConical,
  Globe,
  History,
  House,
  LayoutGrid,
  ListChecks,
  Menu,
  MonitorSmartphone,
  PartyPopper,
  ScrollText,
  Server,
  Settings,
  ShieldBan,
  Tags,
  Users,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import { DashboardPath } from '../../../../shared/dashboard-paths.ts';
import type { MessageKey } from '../i18n/language.ts';
import { later } from './later-view.ts';
import type { LaterView } from './later-view.ts';

/** Sections of the navigation. */
export const SECTIONS = ['watch', 'policy', 'server'] as const;
export type Section = (typeof SECTIONS)[number];

export interface PageEntry {
  /** Path of the page. It has one segment, so that relative URLs work below any path of a proxy. */
  readonly path: string;
  readonly title: MessageKey;
  readonly icon: LucideIcon;
  readonly section: Section;
  /** Whether the page is not in the navigation, but only reached by links. */
  readonly isUnlisted?: boolean;
  readonly view: LaterView;
}

type Load = () => Promise<{ readonly default: ComponentType }>;
type Unusual = Partial<Pick<PageEntry, 'title' | 'isUnlisted'>>;
type PageName = keyof typeof DashboardPath;

function pathOf(page: PageName): string {
  return `/${DashboardPath[page]}`;
}

function entry(page: PageName, section: Section, icon: LucideIcon, load: Load, more?: Unusual): PageEntry {
  return {
    path: pathOf(page),
    title: `page.${page}` as MessageKey,
    icon,
    section,
    view: later(page === 'overview' ? load : () => withMessages(load)),
    ...more,
  };
}

/** Imports the messages when they are needed, because the tests of this module run without Vite. */
async function withMessages(load: Load): ReturnType<Load> {
  const { withAllMessages } = await import('../i18n/language.ts');
  return withAllMessages(load);
}

/** All pages. Within a section, the pages are in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  entry('overview', 'watch', House, () => import('../pages/overview/overview-page.tsx')),
  entry('queries', 'watch', ScrollText, () => import('../pages/queries/queries-page.tsx')),
  entry('why', 'watch', CircleHelp, () => import('../pages/queries/why-page.tsx'), { isUnlisted: true }),
  entry('clients', 'watch', MonitorSmartphone, () => import('../pages/clients/clients-page.tsx')),
  entry('groups', 'policy', Users, () => import('../pages/groups/groups-page.tsx')),
  entry('services', 'policy', LayoutGrid, () => import('../pages/services/services-page.tsx')),
  entry('schedules', 'policy', CalendarClock, () => import('../pages/schedules/schedules-page.tsx')),
  entry('resolving', 'server', Globe, () => import('../pages/resolving/resolving-page.tsx')),
  entry('history', 'server', History, () => import('../pages/history/history-page.tsx')),
  entry('nodes', 'server', Server, () => import('../pages/nodes/nodes-page.tsx')),
  entry('diagnosis', 'server', Activity, () => import('../pages/diagnosis/diagnosis-page.tsx')),
  entry('settings', 'server', Settings, () => import('../pages/settings/settings-page.tsx')),
  entry('setup', 'server', PartyPopper, () => import('../pages/welcome/welcome-page.tsx'), {
    title: 'welcome.title',
    isUnlisted: true,
  }),
  entry('guides', 'server', BookOpen, () => import('../pages/guides/guides-page.tsx'), {
    title: 'guides.title',
    isUnlisted: true,
  }),
  entry('lists', 'policy', ListChecks, () => import('../pages/lists/lists-page.tsx')),
  entry('rules', 'policy', ShieldBan, () => import('../pages/rules/rules-page.tsx')),
  entry('names', 'policy', Tags, () => import('../pages/names/names-page.tsx')),
  entry('simulate', 'policy', FlaskConical, () => import('../pages/simulate/simulate-page.tsx')),
];

/** Preloads the page of a path. Errors are shown when the page is opened. */
export async function loadPage(path: string): Promise<void> {
  await PAGES.find((page) => page.path === path)
    ?.view.load()
    .catch(() => undefined);
}

export const LISTED_PAGES = PAGES.filter(({ isUnlisted }) => isUnlisted !== true);

/** Pages in the bar on phones; "More" lists all other pages. */
export const BAR_PATHS: readonly string[] = (['overview', 'queries', 'clients', 'groups'] as const).map(
  pathOf,
);

/** The page that lists all other pages. */
export const MORE = { path: pathOf('more'), title: 'page.more', icon: Menu } as const;
