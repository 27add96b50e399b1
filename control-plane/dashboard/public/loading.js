// A network that changes while the page loads, as a phone's does, must not leave it blank: where a script of the page has
// not come, the page says so and loads again. Before all other scripts, as the event does not wait for who listens.
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
  // The error of an element does not rise to the window, but passes it on its way down.
  addEventListener('error', tryAgain, true);
})();
