/** Entry point of the dashboard. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { PAGE_BASE } from './api/place.ts';
import { App } from './frame/app.tsx';
import { loadPage } from './frame/pages.ts';
import { startLanguage } from './i18n/language.ts';
import './style/base.css';

// Starts loading the code of the page before the rest is initialised.
void loadPage(location.pathname.slice(PAGE_BASE.length));
await startLanguage();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
