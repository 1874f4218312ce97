/** Tables of a page as text, and what they lack. */
import type { Page, Request } from 'playwright-core';

/** Cells by the title of their column. */
export type TableRow = { readonly [column: string]: string };

/** The rows of the table with this caption; spaces are folded. */
export async function tableRows(page: Page, caption: string): Promise<readonly TableRow[]> {
  await page.getByRole('region', { name: caption, exact: true }).waitFor();
  return await page.evaluate<readonly TableRow[]>(`(() => {
    const table = [...document.querySelectorAll('table')].find((one) => one.caption?.textContent === ${JSON.stringify(caption)});
    const textOf = (cell) => cell.innerText.replaceAll(/\\s+/g, ' ').trim();
    const titles = [...table.tHead.rows[0].cells].map(textOf);
    return [...table.tBodies[0].rows].map((row) => Object.fromEntries([...row.cells].map((cell, at) => [titles[at], textOf(cell)])));
  })()`);
}

/** A cell is this text, or begins with it, where its interval follows. */
export type WantedCell = string | { readonly begins: string };

export interface WantedRow {
  /** Words at the beginning of the first column. */
  readonly first: string;
  readonly cells: { readonly [column: string]: WantedCell };
}

/** Wanted rows that differ; `isAll` adds rows that are not wanted. */
export function rowFaults(rows: readonly TableRow[], wanted: readonly WantedRow[], { isAll = false } = {}): readonly string[] {
  return [
    ...(isAll && rows.length !== wanted.length ? [`the page has ${rows.length} rows, not ${wanted.length}`] : []),
    ...wanted.flatMap(({ first, cells }) => {
      const found = rows.filter((row) => `${Object.values(row)[0] ?? ''} `.startsWith(`${first} `));
      const fits = found.some((row) => differing(row, cells).length === 0);
      if (fits) return [];
      const [row] = found;
      return row === undefined ? [`the page has no row ${first}`] : differing(row, cells).map((fault) => `${first}: ${fault}`);
    }),
  ];
}

function differing(row: TableRow, cells: WantedRow['cells']): readonly string[] {
  return Object.entries(cells).flatMap(([column, want]) => {
    const cell = row[column] ?? 'no such column';
    const fits = typeof want === 'string' ? cell === want : cell.startsWith(want.begins);
    return fits ? [] : [`${column} is “${cell}”, not “${typeof want === 'string' ? want : `${want.begins} …`}”`];
  });
}

/** Answers of the API to the requests that the page has sent itself, so that both are about the same time. */
export interface SameRequests {
  answerTo<Answer>(path: string): Promise<Answer>;
}

export function sameRequests(page: Page): SameRequests {
  const sent = new Map<string, string>();
  page.on('request', (request: Request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === 'GET') sent.set(decodeURIComponent(pathname), request.url());
  });
  return {
    async answerTo<Answer>(path: string): Promise<Answer> {
      const url = sent.get(`/api/v1${path}`);
      if (url === undefined) throw new Error(`the page has not asked for ${path}`);
      return (await (await fetch(url)).json()) as Answer;
    },
  };
}
