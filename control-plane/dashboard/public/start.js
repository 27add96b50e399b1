// If a script of the page cannot be loaded, for example because a phone changes its network, shows a message and
// reloads the page instead of leaving it blank. Runs before all other scripts, because later listeners would miss the
// event.
(() => {
  const RETRY_MS = 3000;
  let isFailed = false;
  const say = () => {
    document.getElementById('not-loaded').hidden = false;
  };
  const tryAgain = () => {
    if (isFailed) return;
    isFailed = true;
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', say);
    else say();
    setTimeout(() => location.reload(), RETRY_MS);
  };
  // Error events of elements do not bubble to the window, but can be captured there.
  addEventListener('error', ({ target }) => target instanceof HTMLScriptElement && tryAgain(), true);
  // Sent by `src/entry.ts` if it cannot load the rest of the code.
  addEventListener('weir:not-loaded', tryAgain);
})();

// Applies the theme selected in this browser before the first paint, so that the page does not flash.
(() => {
  const theme = localStorage.getItem('weir.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
})();
