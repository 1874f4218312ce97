/** `npm run check -- prices YYYY-MM-DD`: writes the list prices that hold on that day. */
import { readFileSync, writeFileSync } from 'node:fs';
import { listPricesText } from './table.ts';

const [date = ''] = process.argv.slice(2);
if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) {
  console.error('Usage: npm run check -- prices YYYY-MM-DD');
  process.exit(2);
}
const { version } = JSON.parse(
  readFileSync(new URL('../../node_modules/@pydantic/genai-prices/package.json', import.meta.url), 'utf8'),
) as { readonly version: string };
writeFileSync(new URL('../../evaluators/pricing/list-prices.ts', import.meta.url), listPricesText(date, `genai-prices ${version}`));
