/** Short notices about completed actions. The frame shows them as toasts. */
import { UNSTABLE_ToastQueue as ToastQueue } from 'react-aria-components/Toast';

export type Tone = 'good' | 'warning' | 'fault';

export interface Notice {
  readonly tone: Tone;
  readonly text: string;
  readonly action?: { readonly text: string; readonly run: () => void };
  /** Page of the dashboard with details. */
  readonly link?: { readonly text: string; readonly to: string };
}

/** Time that a notice is shown. It pauses while the pointer or the focus is on the notice. */
const SHOWN_MS = 20_000;

/** The visible notices. */
export const notices = new ToastQueue<Notice>({ maxVisibleToasts: 3 });

export function notify(notice: Notice): void {
  notices.add(notice, { timeout: SHOWN_MS });
}
