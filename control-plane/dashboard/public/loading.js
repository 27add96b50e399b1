// If a script of the page cannot be loaded, for example because a phone changes its network, shows a message and
// reloads the page instead of leaving it blank. Runs before all other scripts, because later listeners would miss the
// event.
(() => {
  const RETRY_MS = 3000;
  let isFailed = false;
  const say = () => {
    document.getElementById('not-loaded').hidden = false;
  };
  const tryAgain = ({ target }) => {
    if (isFailed || !(target instanceof HTMLScriptElement)) return;
    isFailed = true;
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', say);
    else say();
    setTimeout(() => location.reload(), RETRY_MS);
  };
  // Error events of elements do not bubble to the window, but can be captured there.
  addEventListener('error', tryAgain, true);
})();
