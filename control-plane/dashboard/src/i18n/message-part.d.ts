/** The part of a message file that the first view needs, which the build makes (`build/compiled-messages.ts`). */
declare module '*.json?first' {
  import type { Messages } from '@lingui/core';

  const messages: Messages;
  export default messages;
}
