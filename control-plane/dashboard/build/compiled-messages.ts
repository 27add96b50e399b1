/** Compiles the messages of a language (ICU texts in JSON) during the build, so that the browser needs no parser. */
import { compileMessage } from '@lingui/message-utils/compileMessage';
import type { Plugin } from 'vite';

const MESSAGES = /\/i18n\/[a-z-]+\.json$/i;

/** The plugin. The build fails if a message cannot be compiled. */
export function compiledMessages(): Plugin {
  return {
    name: 'weir-messages',
    enforce: 'pre',
    transform(source, id) {
      if (!MESSAGES.test(id)) return null;
      const messages = JSON.parse(source) as Record<string, string>;
      const compiled = Object.fromEntries(
        Object.entries(messages).map(([key, message]) => [key, compileMessage(message)]),
      );
      // Browsers parse JSON in a string faster than the same value in code.
      const text = JSON.stringify(JSON.stringify(compiled));
      return { code: `export default JSON.parse(${text});`, moduleType: 'js', map: null };
    },
  };
}
