// Requests the login state while the code of the page is loading; src/api/who-ahead.ts uses the answer.
(() => {
  const base = new URL('.', location.href).pathname.replace(/\/$/, '');
  const { apiBase } = window.__SVC_CONFIG__ ?? { apiBase: '/api' };
  const answer = fetch(`${base}${apiBase}/auth/status`, { credentials: 'same-origin', cache: 'no-store' });
  window.__WHO__ = answer.catch(() => null);
})();
