/** The comment of a group in the user's language. */
import type { Say } from '../../i18n/say.ts';

/** Comment that the database has for the group Default from the start. */
const FIRST_COMMENT = 'Clients that belong to no other group';

interface CommentedGroup {
  readonly is_default: boolean;
  readonly comment: string;
}

/** The comment of a group. The original comment of Default, which no user wrote, is translated. */
export function groupComment({ is_default: isDefault, comment }: CommentedGroup, say: Say): string {
  return isDefault && comment === FIRST_COMMENT ? say('groups.default') : comment;
}
