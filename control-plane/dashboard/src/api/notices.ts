/** Short notices about what was just done. Shown by the toasts of the frame. */
import { UNSTABLE_ToastQueue as ToastQueue } from 'react-aria-components/Toast';

/** Kind of a notice. */
export type Tone = 'good' | 'warning' | 'fault';

/** One notice. */
export interface Notice {
  readonly tone: Tone;
  readonly text: string;
  readonly action?: { readonly text: string; readonly run: () => void };
  /** A page of the dashboard that says more. */
  readonly link?: { readonly text: string; readonly to: string };
}

/** How long a notice stays; longer while it is hovered over or focused. */
const SHOWN_MS = 20_000;

/** The notices that are shown. */
export const notices = new ToastQueue<Notice>({ maxVisibleToasts: 3 });

/** Shows a notice. */
export function notify(notice: Notice): void {
  notices.add(notice, { timeout: SHOWN_MS });
}
