/** Help texts of keys: from the file of a language if the file has the key; if not, from the English table of keys. */
import type { ConfigKey } from './config-key.ts';

/** Contents of the file of a language. */
export interface HelpFile {
  readonly units: Readonly<Record<string, string>>;
  readonly help: Readonly<Record<string, string>>;
}

/** Help in a language. */
export interface KeyHelp {
  /** Help text of a key. */
  readonly textOf: (entry: ConfigKey) => string;
  /** Language of the help text of a key. */
  readonly languageOf: (entry: ConfigKey) => string;
  /** Unit of a number; null if there is none. */
  readonly unitOf: (entry: ConfigKey) => string | null;
}

/** Help from the file of a language; `file` is null if the language has none. */
export function helpIn(language: string, file: HelpFile | null): KeyHelp {
  return {
    textOf: ({ key, help }) => file?.help[key] ?? help,
    languageOf: ({ key }) => (file?.help[key] === undefined ? 'en' : language),
    unitOf: ({ unit }) => (unit === undefined ? null : (file?.units[unit] ?? unit)),
  };
}
