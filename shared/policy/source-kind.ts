/** Whether the rules of a list block or allow. */
export type SourceKind = 'block' | 'allow';

/** URL prefix of a source of custom rules; such rules are stored as text instead of downloaded. */
export const TEXT_URL = 'text:';
