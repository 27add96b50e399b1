/**
 * The pages of the dashboard and their paths, for the server, which serves one document at each, and for the dashboard,
 * which shows the page. A path has one segment at most, so that a relative address means the same on every page, even
 * if a proxy serves Weir below a path.
 */

/** The path of each page, without the slash that it begins with. */
export const DashboardPath = {
  overview: '',
  queries: 'queries',
  why: 'why',
  clients: 'clients',
  groups: 'groups',
  lists: 'lists',
  rules: 'rules',
  services: 'services',
  schedules: 'schedules',
  names: 'names',
  resolving: 'resolving',
  simulate: 'simulate',
  history: 'history',
  nodes: 'nodes',
  settings: 'settings',
  login: 'login',
  setup: 'setup',
  guides: 'guides',
  more: 'more',
} as const;
