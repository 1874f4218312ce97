import { checkPages } from './pages-checks.ts';
import { pages } from './pages.ts';

checkPages(pages.filter(({ replays }) => replays === true));
