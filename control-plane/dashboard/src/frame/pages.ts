/** All pages: where each is, what it is called, and how it is loaded. A page that is not here does not exist. */
import {
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
  Tags,
  Users,
} from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { DashboardPath } from '../../../../shared/dashboard-paths.ts';
import type { MessageKey } from '../i18n/language.ts';
import { later } from './later-view.ts';
import type { LaterView } from './later-view.ts';

/** Parts of the navigation. */
export const SECTIONS = ['watch', 'policy', 'server'] as const;
export type Section = (typeof SECTIONS)[number];

/** A page. */
export interface PageEntry {
  /** One segment, so that relative addresses hold below any path of a proxy. */
  readonly path: string;
  readonly title: MessageKey;
  readonly icon: LucideIcon;
  readonly section: Section;
  /** Reached by links, not by the navigation. */
  readonly isUnlisted?: boolean;
  readonly view: LaterView;
}

function pathOf(page: keyof typeof DashboardPath): string {
  return `/${DashboardPath[page]}`;
}

/** In the order of the navigation, within each of its parts. */
export const PAGES: readonly PageEntry[] = [
  {
    path: pathOf('overview'),
    title: 'page.overview',
    icon: House,
    section: 'watch',
    view: later(() => import('../pages/overview/overview-page.tsx')),
  },
  {
    path: pathOf('queries'),
    title: 'page.queries',
    icon: ScrollText,
    section: 'watch',
    view: later(() => import('../pages/queries/queries-page.tsx')),
  },
  {
    path: pathOf('why'),
    title: 'page.why',
    icon: CircleHelp,
    section: 'watch',
    isUnlisted: true,
    view: later(() => import('../pages/queries/why-page.tsx')),
  },
  {
    path: pathOf('clients'),
    title: 'page.clients',
    icon: MonitorSmartphone,
    section: 'watch',
    view: later(() => import('../pages/clients/clients-page.tsx')),
  },
  {
    path: pathOf('groups'),
    title: 'page.groups',
    icon: Users,
    section: 'policy',
    view: later(() => import('../pages/groups/groups-page.tsx')),
  },
  {
    path: pathOf('services'),
    title: 'page.services',
    icon: LayoutGrid,
    section: 'policy',
    view: later(() => import('../pages/services/services-page.tsx')),
  },
  {
    path: pathOf('schedules'),
    title: 'page.schedules',
    icon: CalendarClock,
    section: 'policy',
    view: later(() => import('../pages/schedules/schedules-page.tsx')),
  },
  {
    path: pathOf('resolving'),
    title: 'page.resolving',
    icon: Globe,
    section: 'server',
    view: later(() => import('../pages/resolving/resolving-page.tsx')),
  },
  {
    path: pathOf('history'),
    title: 'page.history',
    icon: History,
    section: 'server',
    view: later(() => import('../pages/history/history-page.tsx')),
  },
  {
    path: pathOf('nodes'),
    title: 'page.nodes',
    icon: Server,
    section: 'server',
    view: later(() => import('../pages/nodes/nodes-page.tsx')),
  },
  {
    path: pathOf('settings'),
    title: 'page.settings',
    icon: Settings,
    section: 'server',
    view: later(() => import('../pages/settings/settings-page.tsx')),
  },
  {
    path: pathOf('setup'),
    title: 'welcome.title',
    icon: PartyPopper,
    section: 'server',
    isUnlisted: true,
    view: later(() => import('../pages/welcome/welcome-page.tsx')),
  },
  {
    path: pathOf('lists'),
    title: 'page.lists',
    icon: ListChecks,
    section: 'policy',
    view: later(() => import('../pages/lists/lists-page.tsx')),
  },
  {
    path: pathOf('rules'),
    title: 'page.rules',
    icon: ScrollText,
    section: 'policy',
    view: later(() => import('../pages/rules/rules-page.tsx')),
  },
  {
    path: pathOf('names'),
    title: 'page.names',
    icon: Tags,
    section: 'policy',
    view: later(() => import('../pages/names/names-page.tsx')),
  },
  {
    path: pathOf('simulate'),
    title: 'page.simulate',
    icon: FlaskConical,
    section: 'policy',
    view: later(() => import('../pages/simulate/simulate-page.tsx')),
  },
];

/** Loads the page of a path ahead of its use. Where it cannot be loaded, showing it says so. */
export async function loadPage(path: string): Promise<void> {
  await PAGES.find((page) => page.path === path)
    ?.view.load()
    .catch(() => undefined);
}

/** Those that the navigation shows. */
export const LISTED_PAGES = PAGES.filter(({ isUnlisted }) => isUnlisted !== true);

/** Those that a phone's bar has a place for; the rest is behind "More". */
export const BAR_PATHS: readonly string[] = (['overview', 'queries', 'clients', 'groups'] as const).map(
  pathOf,
);

/** The page with all others. */
export const MORE = { path: pathOf('more'), title: 'page.more', icon: Menu } as const;
