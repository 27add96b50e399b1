/**
 * The pages of the dashboard and their paths; the server sends the same document for each path, and the dashboard shows
 * the page of the path. A path has at most one segment, so that a relative URL has the same meaning on every page, even
 * if a proxy serves Weir below a path.
 */

/** The path of each page, without the leading slash. */
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
  diagnosis: 'diagnosis',
  settings: 'settings',
  login: 'login',
  setup: 'setup',
  guides: 'guides',
  more: 'more',
} as const;
