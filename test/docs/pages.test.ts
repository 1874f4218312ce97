import { checkPages } from './pages-checks.ts';
import { pages } from './pages.ts';

checkPages(pages.filter(({ replays, parses }) => replays !== true && parses !== true));
