/** The first view: the frame, the login and the overview. Its messages are loaded before all others. */

/** Sections, which are the beginnings of keys, and single keys. */
const FIRST: ReadonlySet<string> = new Set(
  `action blocking changed connection fault field frame health login lost notice overview page palette period problem
  requests section session state status time timeline trouble undo update groups.rules.isBlocked guides.title lists.add
  queries.origin.grant welcome.port.other welcome.title`.split(/\s+/),
);

/** True for the key of a message that the first view needs. */
export function isOfFirstView(key: string): boolean {
  return FIRST.has(key) || FIRST.has(key.split('.')[0] ?? '');
}
