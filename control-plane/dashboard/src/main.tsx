/** Entry point of the dashboard. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { PAGE_BASE } from './api/place.ts';
import { App } from './frame/app.tsx';
import { loadPage } from './frame/pages.ts';
import { startLanguage } from './i18n/language.ts';
import './style/base.css';

// Its code is on its way while the rest gets ready.
void loadPage(location.pathname.slice(PAGE_BASE.length));
await startLanguage();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
