/**
 * Compiles the messages of a language (ICU texts in JSON) during the build, so that the browser needs no parser, and
 * divides them: `en.json?first` has the messages of the first view, `en.json?other` all others.
 */
import { compileMessage } from '@lingui/message-utils/compileMessage';
import type { Plugin } from 'vite';
import { isOfFirstView } from '../src/i18n/first-view.ts';

const MESSAGES = /\/i18n\/[a-z-]+\.json(?:\?(first|other))?$/i;

/** The plugin. The build fails if a message cannot be compiled. */
export function compiledMessages(): Plugin {
  return {
    name: 'weir-messages',
    enforce: 'pre',
    transform(source, id) {
      const file = MESSAGES.exec(id);
      if (file === null) return null;
      const part = file[1];
      const messages = JSON.parse(source) as Record<string, string>;
      const compiled = Object.fromEntries(
        Object.entries(messages)
          .filter(([key]) => part === undefined || isOfFirstView(key) === (part === 'first'))
          .map(([key, message]) => [key, compileMessage(message)]),
      );
      // Browsers parse JSON in a string faster than the same value in code.
      const text = JSON.stringify(JSON.stringify(compiled));
      return { code: `export default JSON.parse(${text});`, moduleType: 'js', map: null };
    },
  };
}
