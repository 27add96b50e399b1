/** Whether the rules of a list block or allow. */
export type SourceKind = 'block' | 'allow';
