/** Runs after the browser has painted the next frame, so that a press is visible before slow rendering starts. */
export function afterPaint(run: () => void): void {
  requestAnimationFrame(() => setTimeout(run));
}
