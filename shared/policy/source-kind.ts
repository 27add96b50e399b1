/** Whether the rules of a list block or allow. */
export type SourceKind = 'block' | 'allow';

/** Begins the URL of a source of custom rules, which has a text instead of a server. */
export const TEXT_URL = 'text:';
