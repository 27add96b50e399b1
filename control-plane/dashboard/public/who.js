// Asks who this is while the code of the page is still on its way; src/api/who-ahead.ts takes the answer.
(() => {
  const base = new URL('.', location.href).pathname.replace(/\/$/, '');
  const { apiBase } = window.__SVC_CONFIG__ ?? { apiBase: '/api' };
  const answer = fetch(`${base}${apiBase}/auth/status`, { credentials: 'same-origin', cache: 'no-store' });
  window.__WHO__ = answer.catch(() => null);
})();
