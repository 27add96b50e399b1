/** Help about keys: from the file of a language if it has the key, else from the table of keys. */
import type { ConfigKey } from './config-key.ts';

/** The file of a language. */
export interface HelpFile {
  readonly units: Readonly<Record<string, string>>;
  readonly help: Readonly<Record<string, string>>;
}

/** Help in a language. */
export interface KeyHelp {
  /** Help text of a key. */
  readonly textOf: (entry: ConfigKey) => string;
  /** Language of that text. */
  readonly languageOf: (entry: ConfigKey) => string;
  /** The unit of a number; null without one. */
  readonly unitOf: (entry: ConfigKey) => string | null;
}

/** The help that a file gives; null = there is none for the language. */
export function helpIn(language: string, file: HelpFile | null): KeyHelp {
  return {
    textOf: ({ key, help }) => file?.help[key] ?? help,
    languageOf: ({ key }) => (file?.help[key] === undefined ? 'en' : language),
    unitOf: ({ unit }) => (unit === undefined ? null : (file?.units[unit] ?? unit)),
  };
}
