/** Starts the console in the page. */
import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme, storedTheme } from './parts/theme.ts';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';
import './styles/figures.css';

applyTheme(
  document.documentElement,
  storedTheme(() => localStorage),
);
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
