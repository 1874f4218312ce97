/** A report as one HTML file: nothing is loaded from elsewhere, no script runs, and foreign text is only text. */
import { moreLines } from './text.ts';

const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; overflow-wrap: anywhere }
.wide { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; width: 100% }
th, td { text-align: start; padding: .35rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top; overflow-wrap: anywhere; min-width: 2.5rem }
th { overflow-wrap: normal }
tr.worse td:last-child, .failed { color: #b00020; font-weight: 600 }
tr.better td:last-child, .passed { color: #0a6b2b; font-weight: 600 }
svg { display: block } .warning { color: #8a4b00 } summary { cursor: pointer; margin: .5rem 0; font-weight: 600 }
@media (max-width: 40rem) { body { margin: 1rem auto } th, td { padding: .3rem .25rem; font-size: 13px; min-width: 0 } }
@media (prefers-color-scheme: dark) { body { color: #e8e8e8; background: #151515 } th, td { border-color: #333 } tr.worse td:last-child, .failed { color: #ff7b8a } tr.better td:last-child, .passed { color: #6fd08c } .warning { color: #ffb454 } }
`.trim();

/** `content` is HTML. */
export function htmlPage(title: string, content: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${htmlText(title)}</title>
<style>${style}</style>
</head>
<body>
${content.filter((part) => part !== '').join('\n')}
</body>
</html>`;
}

/** Foreign text, or HTML. */
type HtmlCell = string | { readonly html: string };

/** Empty without rows. `classOf` gives the class of the row at a position. */
export function htmlTable(
  heads: readonly string[],
  rows: readonly (readonly HtmlCell[])[],
  classOf: (row: number) => string = () => '',
): string {
  if (rows.length === 0) return '';
  const cell = (one: HtmlCell): string => `<td dir="auto">${typeof one === 'string' ? htmlText(one) : one.html}</td>`;
  return `<div class="wide"><table>
<thead><tr>${heads.map((head) => `<th scope="col">${htmlText(head)}</th>`).join('')}</tr></thead>
<tbody>
${rows.map((cells, row) => `<tr class="${htmlText(classOf(row))}">${cells.map(cell).join('')}</tr>`).join('\n')}
</tbody>
</table></div>`;
}

/** Counts the items that a part leaves out. */
export function htmlMore(count: number, most: number): string {
  return moreLines(count, most)
    .map((line) => `<p>${line}</p>`)
    .join('');
}

/** Foreign text as HTML. */
export function htmlText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\P{Cc}\t\n]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
